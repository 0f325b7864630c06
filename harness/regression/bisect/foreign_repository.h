#pragma once

#include <map>
#include <string>
#include <vector>

namespace zerotax::bisect {

/// The part of a git repository that its history needs: references, and the places of objects. Others may have written
/// the repository, so it is read without git, and git never sees its settings. Git would start the programs that the
/// settings name (hooks, filters, a file system monitor), fetch from their remotes, and open the files that they
/// include.
struct ForeignRepository {
  /// Texts by path (gitrepository-layout(5)): HEAD, packed-refs, shallow, and the files of refs and logs.
  std::map<std::string, std::string> files;
  /// The folder of the repository's own objects first, then the folders that it borrows objects from.
  std::vector<std::string> objects;
  bool sha256 = false;   ///< the names of its objects have 64 digits
  bool partial = false;  ///< `git clone --filter` left objects out
};

/// Reads the repository of a folder: a work tree or a folder below its top, a linked work tree, a submodule or a bare
/// repository. Throws UsageError for a folder without a repository, for another user's repository above the folder, and
/// for a repository that holds pipes or devices in place of files.
ForeignRepository read_repository(const std::string& folder);

}  // namespace zerotax::bisect
