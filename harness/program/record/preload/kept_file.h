#pragma once

#include <sys/types.h>

#include <atomic>

namespace zerotax::record {

/// A file of /proc/self that is often read. The file is kept open under a high number, which programs rarely use. If
/// the program closes this descriptor, or replaces it with another file, the file is opened again. Any thread may use
/// an object of this class.
class KeptFile {
 public:
  explicit constexpr KeptFile(const char* path) : path_(path) {}

  /// Returns the descriptor, and opens the file if necessary; -1 if opening fails. The descriptor may belong to another
  /// file by now. To be certain, call check(), or make a request that only this file answers and call forget() if there
  /// is no answer.
  int get();
  /// Returns a descriptor that certainly belongs to this file.
  int check();
  /// Forgets the descriptor without closing it, because it belongs to another file.
  void forget(int fd);
  /// Closes the file, unless the descriptor belongs to another file by now. Call this in a child of fork, because the
  /// inherited file shows the parent's memory.
  void drop();

 private:
  [[nodiscard]] bool is_ours(int fd) const;

  const char* path_;
  std::atomic<int> fd_{-1};
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace zerotax::record
