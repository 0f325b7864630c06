#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace zerotax {

/// The memory of the processes that a meter runs, sampled while they run: the largest sum at one time.
class TreeMemory {
 public:
  /// `limit` in bytes; 0: none. `clients`: leaves out the meter's children that lead sessions, except the first.
  TreeMemory(std::uint64_t limit, bool clients) : limit_(limit), clients_(clients) {}

  /// Takes a sample of the descendants of a meter. A sample is cheap while there is one process, or while the sum
  /// cannot be a new peak. Returns false if the descendants have more than the limit.
  bool sample(pid_t meter);

  /// The peak in bytes; 0 unless two processes ran at one time, as the kernel keeps the peak of a single process
  /// exactly. A page that several processes map counts once (PSS) where that can be read, else each time.
  [[nodiscard]] std::uint64_t peak_of_several() const { return peak_of_several_; }

 private:
  std::vector<pid_t> processes(pid_t meter);

  std::uint64_t limit_;
  bool clients_;
  pid_t first_ = 0;
  std::uint64_t peak_of_several_ = 0;
  std::int64_t next_ns_ = 0;       ///< before it, nothing is sampled: a process of many threads takes a while
  std::int64_t next_walk_ns_ = 0;  ///< before it, no page tables are walked
};

}  // namespace zerotax
