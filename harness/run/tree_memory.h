#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace zerotax {

/// The memory of the processes that a meter runs, sampled while they run: the largest sum at one time.
class TreeMemory {
 public:
  /// `limit` in bytes; 0: none. `clients`: the meter's children that lead sessions, but for the first, are left out.
  TreeMemory(std::uint64_t limit, bool clients) : limit_(limit), clients_(clients) {}

  /// Takes a sample of the descendants of a meter. Cheap while there is one process, or while the sum cannot be a new
  /// peak. Returns false if they have more than the limit.
  bool sample(pid_t meter);

  /// In bytes. A page that several processes map counts once (PSS) where that can be read, else each time. 0 unless
  /// there were two processes at one time: the kernel keeps the peak of a single one exactly.
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
