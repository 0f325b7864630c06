#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "os/bpf.h"
#include "os/unique_fd.h"

namespace zerotax {

/// Pages that the kernel zeroed for faults of some threads and of all that they start, counted by programs of BPF. A
/// task's perf events end at an exec that changes its rights (setuid, file capabilities, a file that its user may not
/// read). Source: begin_new_exec() in fs/exec.c, which calls perf_event_exit_task(). Programs of BPF know threads by
/// their IDs, and continue.
class TreePages {
 public:
  struct Counts {
    std::uint64_t pages = 0;       ///< of the base size, and the parts of larger pages up to huge_page_bytes()
    std::uint64_t fills = 0;       ///< allocations of `pages`
    std::uint64_t huge_pages = 0;  ///< huge_page_bytes() each
    std::uint64_t holes = 0;       ///< pages of the base size that MADV_COLLAPSE zeroed in huge pages
  };

  /// Counts for these processes from now on. Without processes, counts for the next program that the calling thread
  /// starts, from its exec on. Returns nothing without CAP_BPF and CAP_PERFMON, or where thread IDs differ from the
  /// kernel's (a PID namespace).
  static std::unique_ptr<TreePages> open(const std::vector<pid_t>& processes);

  /// The counts so far; nothing if there was no room for all threads.
  [[nodiscard]] std::optional<Counts> read() const;

 private:
  TreePages() = default;
  bool start();
  bool run_raw(const char* tracepoint, const bpf::Code& code);
  bool run(std::uint64_t tracepoint, const bpf::Code& code);

  UniqueFd threads_;
  UniqueFd sums_;
  std::vector<UniqueFd> attached_;
};

}  // namespace zerotax
