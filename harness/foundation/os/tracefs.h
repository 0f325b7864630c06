#pragma once

#include <string>

#include "os/unique_fd.h"

namespace zerotax {

/// The kernel's event files, through a mount of our own that nobody else sees (fsmount(2), Linux 5.2). So tracefs need
/// not be mounted anywhere. Needs CAP_SYS_ADMIN.
class Tracefs {
 public:
  Tracefs();
  /// The text of a file; empty if it cannot be read.
  [[nodiscard]] std::string read(const std::string& path) const;
  /// Adds a line to a file of definitions. Returns 0, or the kernel's errno.
  [[nodiscard]] int add(const std::string& path, const std::string& line) const;

 private:
  UniqueFd root_;
  int error_ = 0;  ///< why the mount is missing
};

}  // namespace zerotax
