#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "files/folders.h"

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

/// What a git command said, and how it ended.
struct GitAnswer {
  int status = 0;      ///< its exit status; 128 and the signal if one killed it
  std::string output;  ///< all of it, without the last line break
  std::string errors;

  [[nodiscard]] bool succeeded() const { return status == 0; }
  /// What git complained about, in one line, without its "fatal: ".
  [[nodiscard]] std::string complaint() const;
};

/// The words before a program that keep variables of a git or make around us from reaching it: with GIT_DIR set, say,
/// every command would be about another repository than the one it is given.
std::vector<std::string> clean_words();

/// Runs git, always on a private bare repository that borrows objects from the user's repository and copies its
/// references. Git reads only the settings of the private repository. So neither the user's repository, nor the user,
/// nor the system can name a program for git to start, or a place to fetch from. The user's repository is only read.
class Git {
 public:
  /// Makes the private repository. Throws what read_repository throws, and MachineError if git is missing.
  explicit Git(const std::string& folder);

  /// The folder of the user's repository, as the user gave it.
  [[nodiscard]] const std::string& folder() const { return folder_; }
  /// The private repository.
  [[nodiscard]] std::string repository() const { return scratch_.file("repository"); }

  /// Runs `git arguments…` to its end, and calls `watch` meanwhile. Throws MachineError if git is missing, and Stop if
  /// a signal interrupted us; then nothing that git started is left running. Not thread-safe.
  GitAnswer run(const std::vector<std::string>& arguments, const std::function<void()>& watch = {}) const;

  /// Runs a command that must succeed. Otherwise throws MachineError with git's message, or UsageError if the user's
  /// repository is a partial clone.
  void must(const std::vector<std::string>& arguments) const;

  /// The output of such a command.
  [[nodiscard]] std::string output_of(const std::vector<std::string>& arguments) const;

 private:
  TemporaryFolder scratch_;
  std::string folder_;
  bool partial_ = false;
};

/// The whole of a file, or "".
std::string text_in(const std::string& path);

/// The lines of a text, or its parts between other characters; none of an empty one.
std::vector<std::string> lines_of(const std::string& text, char between = '\n');

}  // namespace zerotax::bisect
