#include "os/page_counts.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/size.h"
#include "os/limits.h"
#include "os/page.h"
#include "os/page_allocations.h"
#include "os/process_info.h"
#include "os/trace_event.h"

namespace zerotax {
namespace {

constexpr const char* kEachCollapse = "pfn != 0";

/// The kernel's filter (Documentation/trace/events.rst, 5.1) for zeroed pages of 2^order.
std::string filter_of(unsigned order) {
  return fmt::format("order == {} && migratetype == {} && gfp_flags & {:#x}", order, kMovable,
                     order == 0 ? kGfpZero : kGfpNoMemoryAllocator);
}

/// Whether a fault may get a page of 2^order (Documentation/admin-guide/mm/transhuge.rst).
bool may_be_populated(unsigned order) {
  std::ifstream file(
      fmt::format("/sys/kernel/mm/transparent_hugepage/hugepages-{}kB/enabled", (page_bytes() << order) >> 10));
  std::string words;
  return std::getline(file, words) && words.find("[never]") == std::string::npos;
}

constexpr const char* kLightPages = "pages that the kernel zeroes are not counted with --light";

}  // namespace

PageCounts::PageCounts() { open_sources(); }

PageCounts::PageCounts(const PerfScope& scope) : scope_(scope), cpus_(scope.is_open()) {
  open_sources();
  if (cpus_ && scope.has_us) ours_ = std::make_unique<PageCounts>(PerfScope{{::getpid()}});
}

void PageCounts::open_sources() {
  allow_many_files();
  // An event in a thread costs it at each change of threads: of a server of many small requests, several percent.
  if (scope_.light && !cpus_) {
    why_no_pages_ = kLightPages;
    return;
  }
  if (const auto event = read_trace_event("kmem/mm_page_alloc")) allocation_ = event->id;
  if (cpus_ && !open_all(kFaults)) cpus_ = false;
  if (!cpus_ && !open_all(kFaults)) {
    whole_ = false;
    open_all(kFaults);
  }
  if (!cpus_) tree_ = TreePages::open(scope_.processes);
  if (scope_.light) {
    why_no_pages_ = kLightPages;
  } else if (tree_) {
    return;
  } else if (allocation_ == 0) {
    why_no_pages_ = "pages that the kernel zeroes are counted as root only";
  } else if (!open_pages()) {
    why_no_pages_ = std::string("the kernel refuses to count the pages that it zeroes: ") + std::strerror(errno);
    fds_[kPages].clear();
  }
}

bool PageCounts::open_pages() {
  if (!open_all(kPages) || !open_all(kPages + kHugeOrder)) return false;
  const auto event = read_trace_event("huge_memory/mm_collapse_huge_page_isolate");
  if (event) collapse_ = event->id;
  if (event && !open_all(kCollapses)) return false;
  for (unsigned order = 1; order < kHugeOrder; ++order) {
    if (may_be_populated(order) && !open_all(kPages + order)) return false;
  }
  return true;
}

bool PageCounts::open_cpus(Source source) {
  const auto cpus = static_cast<int>(::sysconf(_SC_NPROCESSORS_CONF));
  for (int cpu = 0; cpu < cpus; ++cpu) {
    if (!open(source, -1, cpu) && errno != ENODEV) return false;  // an offline CPU
  }
  return true;
}

/// False, and nothing open, if the kernel refuses.
bool PageCounts::open_all(Source source) {
  auto& fds = fds_[source];
  fds.clear();
  if (!cpus_ && scope_.processes.empty()) return open(source, 0, -1);
  int reason = 0;
  const bool granted = cpus_ ? open_cpus(source) : for_each_thread(scope_.processes, [&](pid_t thread) {
    if (open(source, thread, -1) || errno == ESRCH) return true;
    reason = errno;
    return false;
  });
  if (granted) return true;
  fds.clear();
  if (reason != 0) errno = reason;
  return false;
}

bool PageCounts::open(Source source, pid_t thread, int cpu) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = source == kFaults ? PERF_TYPE_SOFTWARE : PERF_TYPE_TRACEPOINT;
  attributes.config = source == kFaults      ? std::uint64_t{PERF_COUNT_SW_PAGE_FAULTS_MIN}
                      : source == kCollapses ? collapse_
                                             : allocation_;
  attributes.inherit = thread != -1 ? 1 : 0;
  attributes.exclude_kernel = source == kFaults && !whole_ ? 1 : 0;
  attributes.disabled = thread == 0 ? 1 : 0;
  attributes.enable_on_exec = attributes.disabled;
  UniqueFd fd = open_perf_event(attributes, thread, cpu, scope_);
  if (!fd) return false;
  const std::string filter = source == kCollapses ? kEachCollapse : filter_of(static_cast<unsigned>(source - kPages));
  if (source != kFaults && ::ioctl(fd.get(), PERF_EVENT_IOC_SET_FILTER, filter.c_str()) != 0) return false;
  fds_[source].push_back(std::move(fd));
  return true;
}

PageCounts::Counts PageCounts::read() const {
  const Counts ours = ours_ ? ours_->read() : Counts{};
  const auto sum = [&](Source source) -> std::uint64_t {
    std::uint64_t all = 0;
    for (const UniqueFd& fd : fds_[source]) {
      std::uint64_t count = 0;  // with those of the threads that inherited the event
      if (::read(fd.get(), &count, sizeof count) == sizeof count) all += count;
    }
    return all;
  };
  Counts counts;
  if (!fds_[kFaults].empty()) counts.minor_faults = less(sum(kFaults), ours.minor_faults.value_or(0));
  if (tree_) {
    const auto pages = tree_->read();
    if (!pages) return counts;
    counts.zeroed_pages = pages->pages;
    counts.zeroed_huge_pages = pages->huge_pages;
    counts.fills = pages->fills;
    counts.holes = pages->holes;
    return counts;
  }
  if (!why_no_pages_.empty()) return counts;
  std::uint64_t pages = 0;
  for (unsigned order = 0; order < kHugeOrder; ++order) {
    const std::uint64_t fills = sum(kPages + order);
    counts.fills += fills;
    pages += fills << order;
  }
  const std::uint64_t collapses = sum(kCollapses);
  counts.fills = less(counts.fills, ours.fills);
  counts.zeroed_pages = less(pages, ours.zeroed_pages.value_or(0));
  counts.zeroed_huge_pages = less(less(sum(kPages + kHugeOrder), collapses), ours.zeroed_huge_pages.value_or(0));
  counts.unsure_holes = collapses << kHugeOrder;
  return counts;
}

}  // namespace zerotax
