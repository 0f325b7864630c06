#pragma once

#include <cstddef>
#include <cstdint>

namespace zerotax::record {

/// A file in memory that the driver shares with this program. The environment has its path, /proc/PID/fd/NUMBER of the
/// driver. The program has inherited the file under that number, whoever its user is now and whatever /proc shows; if
/// it has closed it, it opens the path, which its own user may.
class SharedMemory {
 public:
  /// `variable` of the environment has the path, `magic` is how the file begins, `bytes` is its least size.
  SharedMemory(const char* variable, std::uint64_t magic, std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  [[nodiscard]] bool found() const { return fd_ >= 0; }
  /// nullptr if it cannot be mapped.
  [[nodiscard]] void* map(std::size_t offset, std::size_t bytes) const;
  /// The programs that this one starts inherit it again, unless its number has been taken. For the start of a program,
  /// which has closed nothing yet.
  void keep();

 private:
  int number_ = -1;  ///< under which it is inherited
  int fd_ = -1;
};

}  // namespace zerotax::record
