#pragma once

#include <sys/types.h>

#include <atomic>

namespace zerotax::record {

/// A file of /proc/self that is looked at often: kept open, under a high number, where a program does not notice it.
/// The program may close it, or put a file of its own in its place: then it is opened again. Any thread may use it.
class KeptFile {
 public:
  explicit constexpr KeptFile(const char* path) : path_(path) {}

  /// Its descriptor, opened if need be; -1 if it cannot be had. It may be another file's by now: `check`, or use it for
  /// what only this file answers, and call `forget` if it does not.
  int get();
  /// The same, and certain to be this file.
  int check();
  /// It is no longer ours, and not to be closed.
  void forget(int fd);
  /// In a child of fork, whose copy is of its parent's memory: closes it, unless it is another file by now.
  void drop();

 private:
  [[nodiscard]] bool is_ours(int fd) const;

  const char* path_;
  std::atomic<int> fd_{-1};
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace zerotax::record
