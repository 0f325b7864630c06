#pragma once

#include <cstddef>
#include <string>

#include "os/unique_fd.h"

namespace zerotax {

/// Memory that a process of ours shares with one that it starts: a file without a name, which belongs to our user and
/// to nobody else (0600). No other process can open it but by a descriptor that it is given.
class SharedFile {
 public:
  /// Throws MachineError with the reason if it cannot be created; `name` is what /proc shows. A file of 0 bytes grows
  /// by what is written to it; the size of any other is sealed (F_SEAL_SHRINK, F_SEAL_GROW), so that nobody can take
  /// memory away that others have mapped.
  SharedFile(const char* name, std::size_t bytes);

  [[nodiscard]] int fd() const { return fd_.get(); }
  /// What is in it; at most a MiB.
  [[nodiscard]] std::string text() const;

  /// Has every program that is started from now on inherit the file, under a number that programs rarely use. Returns
  /// the path by which processes of our user find it, too: /proc/PID/fd/NUMBER, of this process.
  std::string pass_on();

 private:
  UniqueFd fd_;
};

}  // namespace zerotax
