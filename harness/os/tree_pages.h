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
/// perf event of a task ends where the task executes a program with other rights (setuid, file capabilities, a file
/// that its user may not read: begin_new_exec() in the kernel's fs/exec.c calls perf_event_exit_task()). These
/// programs know threads by their IDs, and continue.
class TreePages {
 public:
  struct Counts {
    std::uint64_t pages = 0;       ///< of the base size
    std::uint64_t huge_pages = 0;  ///< huge_page_bytes() each
  };

  /// Of these processes from now on; none: of what the calling thread starts next, from its exec on. Nothing if that is
  /// not permitted (CAP_BPF and CAP_PERFMON), or thread IDs here are not those of the kernel (a PID namespace).
  static std::unique_ptr<TreePages> open(const std::vector<pid_t>& processes);

  /// So far; nothing if there were more threads than there is room for.
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
