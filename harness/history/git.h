#pragma once

#include <functional>
#include <string>
#include <vector>

#include "files/temporary_folder.h"

namespace zerotax::history {

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

/// Runs git. It obeys nothing but its command line and the user's own settings: no variables of a git around us, no
/// hooks, no collecting of garbage, and no lock is taken for what is only read.
class Git {
 public:
  Git() : scratch_("git") {}

  /// Runs `git -C folder arguments…` to its end. `watch` is called while it runs. Throws MachineError if there is no
  /// git, Stop if a signal asked for an end; then nothing that it started is left running. Not for several
  /// threads.
  GitAnswer run(const std::string& folder, const std::vector<std::string>& arguments,
                const std::function<void()>& watch = {}) const;

  /// A command that must succeed. Throws MachineError, with what git said, if it does not.
  void must(const std::string& folder, const std::vector<std::string>& arguments) const;

  /// The output of such a command.
  [[nodiscard]] std::string output_of(const std::string& folder, const std::vector<std::string>& arguments) const;

 private:
  TemporaryFolder scratch_;
};

/// The whole of a file, or "".
std::string text_in(const std::string& path);

/// The lines of a text, or its parts between other characters; none of an empty one.
std::vector<std::string> lines_of(const std::string& text, char between = '\n');

}  // namespace zerotax::history
