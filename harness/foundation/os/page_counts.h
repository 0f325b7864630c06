#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "os/page_allocations.h"
#include "os/perf_scope.h"
#include "os/tree_pages.h"
#include "os/unique_fd.h"

namespace zerotax {

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
