#include "os/page_counts.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "os/limits.h"
#include "os/process_info.h"
#include "os/trace_event.h"

namespace zerotax {
namespace {

// The same in page_allocations.cc, as a filter of the kernel's (Documentation/trace/events.rst, 5.1): a page of a
// program (migratetype 1, MIGRATE_MOVABLE) that was asked for with __GFP_ZERO.
constexpr const char* kZeroedPage = "order == 0 && migratetype == 1 && gfp_flags & 0x100";
// Huge pages are cleared after they were allocated. Those of a fault have __GFP_NOMEMALLOC (GFP_TRANSHUGE_LIGHT,
// include/linux/gfp_types.h); those that are read from a file have not.
constexpr const char* kHugePage = "order == 9 && migratetype == 1 && gfp_flags & 0x80000";

}  // namespace

PageCounts::PageCounts() { open_sources({}); }

PageCounts::PageCounts(const std::vector<pid_t>& processes) { open_sources(processes); }

void PageCounts::open_sources(const std::vector<pid_t>& processes) {
  allow_many_files();
  if (const auto event = read_trace_event("kmem/mm_page_alloc")) allocation_ = event->id;
  if (!open_all(Source::kFaults, processes)) {
    whole_ = false;
    open_all(Source::kFaults, processes);
  }
  if (allocation_ == 0) {
    why_no_pages_ = "pages that the kernel zeroes are counted as root only";
  } else if (!open_all(Source::kPages, processes) || !open_all(Source::kHugePages, processes)) {
    why_no_pages_ = std::string("the kernel refuses to count the pages that it zeroes: ") + std::strerror(errno);
    fds_[static_cast<std::size_t>(Source::kPages)].clear();
  }
}

/// False, and nothing open, if the kernel refuses.
bool PageCounts::open_all(Source source, const std::vector<pid_t>& processes) {
  auto& fds = fds_[static_cast<std::size_t>(source)];
  fds.clear();
  if (processes.empty()) return open(source, 0);
  int reason = 0;
  const bool granted = for_each_thread(processes, [&](pid_t thread) {
    if (open(source, thread) || errno == ESRCH) return true;
    reason = errno;
    return false;
  });
  if (granted) return true;
  fds.clear();
  errno = reason;
  return false;
}

bool PageCounts::open(Source source, pid_t thread) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = source == Source::kFaults ? PERF_TYPE_SOFTWARE : PERF_TYPE_TRACEPOINT;
  attributes.config = source == Source::kFaults ? std::uint64_t{PERF_COUNT_SW_PAGE_FAULTS_MIN} : allocation_;
  attributes.inherit = 1;
  attributes.exclude_kernel = source == Source::kFaults && !whole_ ? 1 : 0;
  attributes.disabled = thread == 0 ? 1 : 0;
  attributes.enable_on_exec = attributes.disabled;
  UniqueFd fd(static_cast<int>(::syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!fd) return false;
  const char* const filter = source == Source::kPages ? kZeroedPage : kHugePage;
  if (source != Source::kFaults && ::ioctl(fd.get(), PERF_EVENT_IOC_SET_FILTER, filter) != 0) return false;
  fds_[static_cast<std::size_t>(source)].push_back(std::move(fd));
  return true;
}

PageCounts::Counts PageCounts::read() const {
  const auto sum = [&](Source source) -> std::optional<std::uint64_t> {
    const auto& fds = fds_[static_cast<std::size_t>(source)];
    if (fds.empty()) return std::nullopt;
    std::uint64_t all = 0;
    for (const UniqueFd& fd : fds) {
      std::uint64_t count = 0;  // with those of the threads that inherited the event
      if (::read(fd.get(), &count, sizeof count) == sizeof count) all += count;
    }
    return all;
  };
  if (!why_no_pages_.empty()) return {sum(Source::kFaults), std::nullopt, std::nullopt};
  return {sum(Source::kFaults), sum(Source::kPages), sum(Source::kHugePages)};
}

}  // namespace zerotax
