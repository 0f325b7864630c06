#pragma once

#include <sys/types.h>

#include <cstddef>

#include "os/unique_fd.h"

namespace zerotax {

/// A program of ours that serves the one that started it, and never outlives it. It is started with an empty
/// environment and no descriptor but its standard ones, so that nothing that is preloaded or configured here reaches
/// it; it must end when its standard input ends. Allocates nothing. Not for several threads.
class HelperProcess {
 public:
  HelperProcess() = default;
  HelperProcess(const HelperProcess&) = delete;
  HelperProcess& operator=(const HelperProcess&) = delete;
  ~HelperProcess() { stop(); }

  /// Starts `program` with one argument, and reads its greeting: text up to an empty line, on its standard output,
  /// within ten seconds. Returns nullptr, or why it failed. Its standard error is ours.
  const char* start(const char* program, const char* argument);
  /// Ends it and waits for its end; without effect if it does not run.
  void stop();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// What it said, with a terminating zero.
  [[nodiscard]] const char* greeting() const { return &greeting_[0]; }

  /// Called by the helper itself, first thing: it is killed when the thread that started it ends, however that
  /// happens, and ends when its standard input does.
  static void end_with_parent();

 private:
  const char* read_greeting(int fd);

  pid_t pid_ = -1;
  UniqueFd lifeline_;  ///< its standard input
  char greeting_[4096] = {};
};

/// Writes the path of a file that is given relative to the folder of this program. False if the path does not fit.
bool path_beside_this_program(const char* name, char* path, std::size_t bytes);

}  // namespace zerotax
