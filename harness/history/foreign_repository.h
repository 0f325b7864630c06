#pragma once

#include <map>
#include <string>
#include <vector>

namespace zerotax::history {

/// A git repository that others may have written, as far as its history needs it: references, and where objects are.
/// It is read without git, so git never sees its settings. Git would start the programs that they name (hooks,
/// filters, a file system monitor), fetch from their remotes, and open the files that they include.
struct ForeignRepository {
  /// HEAD, packed-refs, shallow, and the files of refs and logs: their text by their path (gitrepository-layout(5)).
  std::map<std::string, std::string> files;
  /// The folder of its objects first, then those of the repositories that it borrows objects from.
  std::vector<std::string> objects;
  bool sha256 = false;   ///< the names of its objects have 64 digits
  bool partial = false;  ///< `git clone --filter` left objects out
};

/// Reads the repository of a folder: a work tree or a folder below its top, a linked work tree, a submodule or a bare
/// repository. Throws UsageError for a folder without a repository, for a repository above the folder that belongs to
/// another user, and for one that holds pipes or devices in place of files.
ForeignRepository read_repository(const std::string& folder);

}  // namespace zerotax::history
