#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <thread>

#include "os/thread_usage.h"

namespace snapshot {

/// A thread beside the writers that does what would otherwise cost them page faults, and what that took.
class Helper {
 public:
  Helper() = default;
  ~Helper() { join(); }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  /// `work` returns the bytes that it could not do anything for.
  void start(std::function<std::uint64_t()> work);
  void join();

  // When it has been joined:
  [[nodiscard]] pid_t tid() const { return tid_; }
  [[nodiscard]] const zerotax::ThreadUsage& usage() const { return usage_; }  ///< since the thread's start
  /// Of its minor faults: those that a system call of it counted, and no exception was taken for.
  [[nodiscard]] std::int64_t bulk_faults() const { return bulk_faults_; }
  [[nodiscard]] std::int64_t begin_ns() const { return begin_ns_; }  ///< CLOCK_MONOTONIC
  [[nodiscard]] std::int64_t end_ns() const { return end_ns_; }
  [[nodiscard]] std::uint64_t failed_bytes() const { return failed_bytes_; }

 private:
  std::thread thread_;
  pid_t tid_ = 0;
  zerotax::ThreadUsage usage_;
  std::int64_t bulk_faults_ = 0;
  std::int64_t begin_ns_ = 0;
  std::int64_t end_ns_ = 0;
  std::uint64_t failed_bytes_ = 0;
};

}  // namespace snapshot
