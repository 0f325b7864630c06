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

/// Minor faults of some processes and of all that they start, and the pages that the kernel zeroed for them, by
/// counting perf events, which take no samples: exact. A process that faults pays some 0.1 µs a fault for the pages.
class PageCounts {
 public:
  struct Counts {
    std::optional<std::uint64_t> minor_faults;       ///< of a light scope of processes: not counted
    std::optional<std::uint64_t> zeroed_pages;       ///< of the base size, zeroed by a fault, alone or in larger ones
    std::optional<std::uint64_t> zeroed_huge_pages;  ///< huge_page_bytes() each, likewise
    std::uint64_t fills = 0;                         ///< allocations of `zeroed_pages`
    std::uint64_t holes = 0;                         ///< pages of the base size that MADV_COLLAPSE zeroed in huge pages
    std::uint64_t unsure_holes = 0;                  ///< further holes, at most
  };

  /// Of the program that the calling thread starts next, from its exec on. Never throws: see `why_no_pages`.
  PageCounts();
  /// Of processes that run, from now on; in an open scope of whatever joins them, but not of us.
  explicit PageCounts(const PerfScope& scope);
  PageCounts(const PageCounts&) = delete;
  PageCounts& operator=(const PageCounts&) = delete;

  /// So far. With each descriptor that cannot be read, less.
  [[nodiscard]] Counts read() const;
  /// Whether faults that the kernel itself takes for a process (a read into fresh memory) count too.
  [[nodiscard]] bool whole() const { return whole_; }
  /// Why no page is counted: it takes a tracepoint, which is root's. Empty if they are.
  [[nodiscard]] const std::string& why_no_pages() const { return why_no_pages_; }
  /// Whether CPUs are watched: then whatever joined the scope has been counted.
  [[nodiscard]] bool counts_cpus() const { return cpus_; }
  /// Whether pages are still counted in a process after an exec that changed its rights, and in its descendants. Faults
  /// are still counted there only if counts_cpus().
  [[nodiscard]] bool pages_follow() const { return cpus_ || tree_; }

 private:
  // Pages of 2^order, for an order from kPages on. The last source is of huge pages.
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
  std::unique_ptr<PageCounts> ours_;  ///< counted with the others, to be taken off
  std::uint64_t allocation_ = 0;      ///< the tracepoint's number; 0: unavailable
  bool whole_ = true;
  std::string why_no_pages_;
  std::uint64_t collapse_ = 0;  ///< the tracepoint of MADV_COLLAPSE
  std::vector<UniqueFd> fds_[kPages + kHugeOrder + 1];
};

}  // namespace zerotax
