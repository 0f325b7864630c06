#pragma once

#include <cstddef>
#include <cstdint>

#include "os/page.h"

namespace zerotax::record {

/// A file in memory that the driver shares with this program. An environment variable has the file's path,
/// /proc/PID/fd/NUMBER of the driver. The program inherits the file under NUMBER, so neither the program's user nor its
/// /proc matters. If the program has closed the descriptor, this class opens the path, which the driver's user may
/// open.
class SharedMemory {
 public:
  /// `variable` is the environment variable with the path. `magic` is the beginning of the file, and `bytes` the file's
  /// minimum size.
  SharedMemory(const char* variable, std::uint64_t magic, std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  [[nodiscard]] bool found() const { return fd_ >= 0; }
  /// Maps a part of the file. Returns nullptr if mapping fails.
  [[nodiscard]] void* map(std::size_t offset, std::size_t bytes) const;
  /// Lets the programs that this program starts inherit the file again, unless another file has its number. Call this
  /// at the start of a program, before it closes any descriptor.
  void keep();

 private:
  int number_ = -1;  ///< number under which the file is inherited
  int fd_ = -1;
};

/// Remembers shared memory that belongs to the recorder, not to the program.
void note_own_mapping(const void* memory, std::size_t bytes);

/// Visits the recorder's shared memory. Returns false if some of that memory is not remembered.
bool for_each_own_mapping(void (*visit)(void* context, AddressRange pages), void* context);

}  // namespace zerotax::record
