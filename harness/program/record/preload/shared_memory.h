#pragma once

#include <cstddef>
#include <cstdint>

#include "os/page.h"

namespace zerotax::record {

/// A file in memory that the driver shares with this program. The environment has its path, /proc/PID/fd/NUMBER of the
/// driver. The program inherits the file under that number, so neither its user nor its /proc matters. If the program
/// has closed the descriptor, it opens the path, which the driver's user may open.
class SharedMemory {
 public:
  /// `variable` of the environment contains the path. `magic` is the beginning of the file, and `bytes` its minimum
  /// size.
  SharedMemory(const char* variable, std::uint64_t magic, std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  [[nodiscard]] bool found() const { return fd_ >= 0; }
  /// Maps a part of the file; nullptr if that fails.
  [[nodiscard]] void* map(std::size_t offset, std::size_t bytes) const;
  /// Lets programs that this one starts inherit the file again, unless its number has been taken. Call it at the start
  /// of a program, which has closed nothing yet.
  void keep();

 private:
  int number_ = -1;  ///< the number under which the file is inherited
  int fd_ = -1;
};

/// Remembers shared memory that is ours, and not the program's.
void note_own_mapping(const void* memory, std::size_t bytes);

/// Visits the shared memory that is ours. Returns false if there was more of it than is remembered.
bool for_each_own_mapping(void (*visit)(void* context, AddressRange pages), void* context);

}  // namespace zerotax::record
