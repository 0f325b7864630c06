#pragma once

#include <cstddef>
#include <cstdint>

#include "os/page.h"
#include "os/unique_fd.h"

namespace snapshot {

/// Memory that is shared across a fork, and whose populated size the kernel reports. Throws std::runtime_error.
class SharedMemory {
 public:
  SharedMemory() = default;
  /// `populate`: all of it now, so that nobody finds a page missing later.
  SharedMemory(const char* name, std::size_t bytes, bool populate);

  [[nodiscard]] zerotax::AddressRange range() const { return range_; }
  [[nodiscard]] std::uint64_t populated_bytes() const;

 private:
  zerotax::UniqueFd fd_;
  zerotax::AddressRange range_;  ///< until the program's end
};

/// A block of calloc, from the first boundary of 2 MiB in it on, so that huge pages could lie there. Throws
/// std::runtime_error.
zerotax::AddressRange private_array(std::size_t bytes);

/// What `new std::array<…>()` gives: a block of operator new that was then filled with zeros, beginning wherever the
/// allocator puts it. Throws std::bad_alloc.
zerotax::AddressRange value_initialised_array(std::size_t bytes);

}  // namespace snapshot
