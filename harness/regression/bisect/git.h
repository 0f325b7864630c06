#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "files/folders.h"

namespace zerotax::bisect {

/// The part of a git repository that its history needs: references, and the places of objects. Other users may have
/// written the repository, so the repository is read without git. Git would start the programs that the repository's
/// settings name (hooks, filters, a file system monitor), fetch from the remotes, and open included files.
struct ForeignRepository {
  /// Texts by path (gitrepository-layout(5)): HEAD, packed-refs, shallow, and the files of refs and logs.
  std::map<std::string, std::string> files;
  /// The folder of the repository's own objects first, then the folders from which the repository borrows objects.
  std::vector<std::string> objects;
  bool sha256 = false;   ///< whether the names of the repository's objects have 64 digits
  bool partial = false;  ///< whether `git clone --filter` left out objects
};

/// Reads the repository of a folder: a work tree or a folder below its top, a linked work tree, a submodule or a bare
/// repository. Throws UsageError for a folder without a repository, and for another user's repository above the folder.
/// Also throws UsageError for a repository that holds pipes or devices in place of files.
ForeignRepository read_repository(const std::string& folder);

/// The output of a git command, and its exit status.
struct GitAnswer {
  int status = 0;      ///< exit status of git; 128 plus the signal number if a signal killed git
  std::string output;  ///< the whole output, without the last line break
  std::string errors;

  [[nodiscard]] bool succeeded() const { return status == 0; }
  /// Returns git's error message in one line, without its "fatal: ".
  [[nodiscard]] std::string complaint() const;
};

/// Returns the words to put before a program that remove the environment variables of a surrounding git or make. For
/// example, if GIT_DIR were set, every command would use that repository instead of the intended one.
std::vector<std::string> clean_words();

/// Runs git, always on a private bare repository that borrows objects from the user's repository and copies its
/// references. Git reads only the settings of the private repository. Thus, no setting of the user, the system or the
/// user's repository can make git start a program or fetch from a server. Git never writes to the user's repository.
class Git {
 public:
  /// Makes the private repository. Throws any error that read_repository throws, and MachineError if git is missing.
  explicit Git(const std::string& folder);

  /// The folder of the user's repository, as the user gave it.
  [[nodiscard]] const std::string& folder() const { return folder_; }
  /// The private repository.
  [[nodiscard]] std::string repository() const { return scratch_.file("repository"); }

  /// Runs `git arguments…` to its end, and calls `watch` in the meantime. Throws MachineError if git is missing. Throws
  /// Stop if a signal interrupted zerotax. After that, no process that git started is running. Not thread-safe.
  GitAnswer run(const std::vector<std::string>& arguments, const std::function<void()>& watch = {}) const;

  /// Runs a command that must succeed. Otherwise throws MachineError with git's message, or UsageError if the user's
  /// repository is a partial clone.
  void must(const std::vector<std::string>& arguments) const;

  /// Returns the output of a command that must succeed.
  [[nodiscard]] std::string output_of(const std::vector<std::string>& arguments) const;

 private:
  TemporaryFolder scratch_;
  std::string folder_;
  bool partial_ = false;
};

/// Returns the whole text of a file, or "".
std::string text_in(const std::string& path);

/// Returns the lines of a text, or the parts between other separators. Empty for an empty text.
std::vector<std::string> lines_of(const std::string& text, char between = '\n');

}  // namespace zerotax::bisect
