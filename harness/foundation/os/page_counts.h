#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "os/bpf.h"
#include "os/perf_event.h"
#include "os/trace_event.h"
#include "os/unique_fd.h"

namespace zerotax {

/// Counts, by BPF programs, the pages that the kernel zeroed for faults of some threads and of everything that these
/// threads start. Perf events end at an exec that changes a task's rights (setuid, file capabilities, a file that its
/// user may not read). The count of this class continues, because BPF programs know threads by their IDs. Source:
/// begin_new_exec() in fs/exec.c, which calls perf_event_exit_task().
class TreePages {
 public:
  struct Counts {
    std::uint64_t pages = 0;       ///< zeroed pages of the base size; a larger page below huge_page_bytes() counts as
                                   ///< several
    std::uint64_t fills = 0;       ///< number of allocations that are counted in `pages`
    std::uint64_t huge_pages = 0;  ///< pages of huge_page_bytes()
    std::uint64_t holes = 0;       ///< pages of the base size that MADV_COLLAPSE zeroed within huge pages
  };

  /// Starts counting for these processes. Without processes, counts for the next program that the calling thread
  /// starts, from its exec on. Returns nothing without CAP_BPF and CAP_PERFMON, or if thread IDs differ from the
  /// kernel's (in a PID namespace).
  static std::unique_ptr<TreePages> open(const std::vector<pid_t>& processes);

  /// Returns the counts so far, or nothing if some threads were not counted for lack of room.
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

/// Counts minor faults of some processes and of everything that they start, and the pages that the kernel zeroed for
/// them. The counts are exact, because they come from counting perf events, which take no samples. Counting pages costs
/// a process some 0.1 µs per fault.
class PageCounts {
 public:
  struct Counts {
    std::optional<std::uint64_t> minor_faults;       ///< unknown for processes in a light scope
    std::optional<std::uint64_t> zeroed_pages;       ///< pages of the base size zeroed by a fault, alone or within
                                                     ///< larger pages
    std::optional<std::uint64_t> zeroed_huge_pages;  ///< pages of huge_page_bytes() zeroed by a fault
    std::uint64_t fills = 0;                         ///< number of allocations that are counted in `zeroed_pages`
    std::uint64_t holes = 0;                         ///< pages of the base size that MADV_COLLAPSE zeroed within huge
                                                     ///< pages
    std::uint64_t unsure_holes = 0;                  ///< upper bound of holes not counted in `holes`
  };

  /// Counts for the next program that the calling thread starts, from its exec on. Never throws: see `why_no_pages`.
  PageCounts();
  /// Counts for running processes from now on. An open scope also includes processes that join the scope later, but not
  /// this process.
  explicit PageCounts(const PerfScope& scope);
  PageCounts(const PageCounts&) = delete;
  PageCounts& operator=(const PageCounts&) = delete;

  /// Returns the counts so far. A descriptor that cannot be read contributes nothing.
  [[nodiscard]] Counts read() const;
  /// Whether counts include faults that the kernel itself takes for a process, as when read(2) stores into fresh
  /// memory.
  [[nodiscard]] bool whole() const { return whole_; }
  /// Returns why no pages are counted, or "" if pages are counted. Only root may use the required tracepoint.
  [[nodiscard]] const std::string& why_no_pages() const { return why_no_pages_; }
  /// Whether CPUs are watched, so that processes that joined the scope have been counted.
  [[nodiscard]] bool counts_cpus() const { return cpus_; }
  /// Whether the pages of a process and its descendants are still counted after an exec that changed the process's
  /// rights. Faults are still counted only if counts_cpus().
  [[nodiscard]] bool pages_follow() const { return cpus_ || tree_; }

 private:
  // Source kPages + order counts allocations of 2^order pages. The last source counts huge pages.
  static constexpr std::size_t kFaults = 0;
  static constexpr std::size_t kCollapses = 1;
  static constexpr std::size_t kPages = 2;
  using Source = std::size_t;
  bool open(Source source, pid_t thread, int cpu);
  bool open_pages();
  bool open_cpus(Source source);
  bool open_all(Source source);
  void open_sources();

  PerfScope scope_;
  bool cpus_ = false;
  std::unique_ptr<TreePages> tree_;
  std::unique_ptr<PageCounts> ours_;  ///< counts of this process, which are subtracted
  std::uint64_t allocation_ = 0;      ///< number of the tracepoint; 0 if unavailable
  bool whole_ = true;
  std::string why_no_pages_;
  std::uint64_t collapse_ = 0;  ///< number of the tracepoint of MADV_COLLAPSE
  std::vector<UniqueFd> fds_[kPages + kHugeOrder + 1];
};

}  // namespace zerotax
