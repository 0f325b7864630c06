#pragma once

#include <cstddef>
#include <string>

#include "os/unique_fd.h"

namespace zerotax {

/// Memory that zerotax shares with a process that it starts. The memory is a file without a name, and only our user may
/// access it (0600). Another process can open the file only through a descriptor that it is given.
class SharedFile {
 public:
  /// Throws MachineError with the reason if the file cannot be created. /proc shows `name`. A file of 0 bytes grows
  /// when it is written to. Any other size is sealed (F_SEAL_SHRINK, F_SEAL_GROW), so that no process can shrink memory
  /// that others have mapped.
  SharedFile(const char* name, std::size_t bytes);

  [[nodiscard]] int fd() const { return fd_.get(); }
  /// The contents, up to 1 MiB.
  [[nodiscard]] std::string text() const;

  /// Makes every program that is started from now on inherit the file, as a descriptor with a number that programs
  /// rarely use. Returns the path /proc/PID/fd/NUMBER of this process, through which other processes of our user also
  /// find the file.
  std::string pass_on();

 private:
  UniqueFd fd_;
};

}  // namespace zerotax
