#pragma once

#include <string>

#include "os/unique_fd.h"

namespace zerotax {

/// A file without a name that a probe of ours is given to write into: not its standard output, which belongs to the
/// allocator as well.
class SharedFile {
 public:
  /// Throws MachineError with the reason if it cannot be created; `name` is what /proc shows.
  SharedFile(const char* name, std::size_t bytes);

  [[nodiscard]] int fd() const { return fd_.get(); }
  /// All that is in it.
  [[nodiscard]] std::string text() const;

 private:
  UniqueFd fd_;
};

}  // namespace zerotax
