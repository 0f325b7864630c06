#pragma once

#include <cstddef>
#include <string>

#include "os/unique_fd.h"

namespace zerotax {

/// Memory that a process of ours shares with a process that it starts. The memory is a file without a name that only
/// our user may access (0600). No other process can open the file except by a descriptor that it is given.
class SharedFile {
 public:
  /// Throws MachineError with the reason if the file cannot be created; `name` is shown in /proc. A file of 0 bytes
  /// grows as it is written to. Any other size is sealed (F_SEAL_SHRINK, F_SEAL_GROW), so that nobody can take away
  /// memory that others have mapped.
  SharedFile(const char* name, std::size_t bytes);

  [[nodiscard]] int fd() const { return fd_.get(); }
  /// The contents, at most a MiB.
  [[nodiscard]] std::string text() const;

  /// Makes every program that is started from now on inherit the file, under a number that programs rarely use. Returns
  /// a path by which processes of our user also find the file: /proc/PID/fd/NUMBER of this process.
  std::string pass_on();

 private:
  UniqueFd fd_;
};

}  // namespace zerotax
