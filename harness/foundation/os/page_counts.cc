#include "os/page_counts.h"

#include <fmt/format.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/size.h"
#include "os/bpf.h"
#include "os/limits.h"
#include "os/page.h"
#include "os/pid_namespace.h"
#include "os/process_info.h"
#include "os/trace_event.h"

namespace zerotax {
namespace {

using namespace bpf;

/// Values in the map of threads, and the size of the map.
constexpr std::uint32_t kCounted = 1;
constexpr std::uint32_t kFromItsExecOn = 2;
constexpr std::uint32_t kMostThreads = 32'768;

/// Rows of sums, each in its own cache line. CPUs whose numbers differ by a multiple of kRows share a row.
constexpr std::uint32_t kRows = 64;
struct Row {
  std::uint64_t pages = 0;
  std::uint64_t huge_pages = 0;
  std::uint64_t lost_threads = 0;
  std::uint64_t fills = 0;
  std::uint64_t collapses = 0;
  std::uint64_t holes = 0;
  std::array<std::uint64_t, 2> unused{};
};
constexpr std::int16_t kPages = 0;
constexpr std::int16_t kHugePages = 8;
constexpr std::int16_t kLostThreads = 16;
constexpr std::int16_t kFills = 24;
constexpr std::int16_t kCollapses = 32;
constexpr std::int16_t kHoles = 40;

constexpr std::int16_t kKey = -4;
constexpr std::int16_t kValue = -8;

/// Returns the offset of a field, or -1 if it does not exist.
std::int16_t offset_of(const TraceEvent& event, const char* field) {
  const auto found = event.fields.find(field);
  return found != event.fields.end() ? static_cast<std::int16_t>(found->second.offset) : std::int16_t{-1};
}

Code leave_it() { return {set(r0, 1), leave()}; }

/// Loads the map's value for the thread ID in `r7` into `r8`. Ends the program if there is no value.
Code look_up_thread(int threads) {
  return Code{store(BPF_W, stack, kKey, r7), move(r2, stack), add(r2, kKey)} + map_address(r1, threads) +
         Code{call(BPF_FUNC_map_lookup_elem), jump_if(BPF_JNE, r0, 0, 2)} + leave_it() + Code{load(BPF_W, r8, r0, 0)};
}

Code current_thread() { return {call(BPF_FUNC_get_current_pid_tgid), move(r7, r0)}; }

/// Loads the address of this CPU's row into `r0`.
Code row_of_cpu(int sums) {
  return Code{call(BPF_FUNC_get_smp_processor_id), mask(r0, kRows - 1), store(BPF_W, stack, kKey, r0), move(r2, stack),
              add(r2, kKey)} +
         map_address(r1, sums) + Code{call(BPF_FUNC_map_lookup_elem), jump_if(BPF_JNE, r0, 0, 2)} + leave_it();
}

/// Ends the program unless the current thread is counted.
Code check_thread(int threads) {
  return current_thread() + look_up_thread(threads) + Code{jump_if(BPF_JEQ, r8, kCounted, 2)} + leave_it();
}

/// Counts an event of mm_page_alloc, whose arguments are page, order, flags, and migratetype.
Code count_pages(int threads, int sums) {
  return Code{load(BPF_DW, r6, r1, 8),
              load(BPF_DW, r7, r1, 16),
              load(BPF_DW, r8, r1, 24),
              jump_if(BPF_JNE, r8, kMovable, 4),   // → the end
              jump_if(BPF_JNE, r6, 0, 2),          //
              jump_if(BPF_JSET, r7, kGfpZero, 4),  // → the thread
              jump(1),                             // → the end
              jump_if(BPF_JSET, r7, kGfpNoMemoryAllocator, 2)} +
         leave_it() + check_thread(threads) + row_of_cpu(sums) +
         Code{set(r1, 1), jump_if(BPF_JNE, r6, kHugeOrder, 3), atomic_add(r0, kHugePages, r1)} + leave_it() +
         Code{atomic_add(r0, kFills, r1), shift_left(r1, r6), atomic_add(r0, kPages, r1)} + leave_it();
}

/// Counts an event of mm_collapse_huge_page_isolate. At this event, MADV_COLLAPSE has allocated a huge page, and copies
/// pages into it. The kernel zeroes only the holes between the copied pages (__collapse_huge_page_copy() in
/// mm/khugepaged.c). The kernel zeroes nothing unless the status is SCAN_SUCCEED (1).
Code note_collapse(int threads, int sums, const TraceEvent& event) {
  return Code{load(BPF_W, r6, r1, offset_of(event, "none_or_zero")), load(BPF_W, r9, r1, offset_of(event, "status"))} +
         check_thread(threads) + row_of_cpu(sums) +
         Code{set(r1, 1), atomic_add(r0, kCollapses, r1), jump_if(BPF_JNE, r9, 1, 1), atomic_add(r0, kHoles, r6)} +
         leave_it();
}

/// Handles task_rename. exec renames the task when the kernel enables its perf events (enable_on_exec). Renames by this
/// process do not count, because zerotax may name its threads.
Code note_exec(int threads) {
  return Code{call(BPF_FUNC_get_current_pid_tgid), move(r7, r0), move(r6, r0), shift_right(r6, 32),
              jump_if(BPF_JNE, r6, ::getpid(), 2)} +
         leave_it() + look_up_thread(threads) + Code{jump_if(BPF_JEQ, r8, kFromItsExecOn, 2)} + leave_it() +
         Code{set(r1, kCounted), store(BPF_W, r0, 0, r1)} + leave_it();
}

/// Handles sched_process_fork. A new thread inherits its parent's value.
Code note_fork(int threads, int sums, const TraceEvent& event) {
  const std::int16_t parent = offset_of(event, "parent_pid");
  const std::int16_t child = offset_of(event, "child_pid");
  return Code{move(r6, r1), load(BPF_W, r7, r6, parent)} + look_up_thread(threads) +
         Code{store(BPF_W, stack, kValue, r8),
              load(BPF_W, r7, r6, child),
              store(BPF_W, stack, kKey, r7),
              move(r2, stack),
              add(r2, kKey),
              move(r3, stack),
              add(r3, kValue),
              set(r4, BPF_ANY)} +
         map_address(r1, threads) + Code{call(BPF_FUNC_map_update_elem), jump_if(BPF_JNE, r0, 0, 2)} + leave_it() +
         row_of_cpu(sums) + Code{set(r1, 1), atomic_add(r0, kLostThreads, r1)} + leave_it();
}

/// Handles sched_process_free. After this event, another thread may get the thread's ID.
Code note_end(int threads, const TraceEvent& event) {
  const std::int16_t thread = offset_of(event, "pid");
  return Code{load(BPF_W, r7, r1, thread), store(BPF_W, stack, kKey, r7), move(r2, stack), add(r2, kKey)} +
         map_address(r1, threads) + Code{call(BPF_FUNC_map_delete_elem)} + leave_it();
}

constexpr const char* kEachCollapse = "pfn != 0";

/// Returns an event filter for the kernel (Documentation/trace/events.rst, section 5.1) that selects zeroed allocations
/// of 2^order pages.
std::string filter_of(unsigned order) {
  return fmt::format("order == {} && migratetype == {} && gfp_flags & {:#x}", order, kMovable,
                     order == 0 ? kGfpZero : kGfpNoMemoryAllocator);
}

/// Whether a fault may populate 2^order pages at once (Documentation/admin-guide/mm/transhuge.rst).
bool may_be_populated(unsigned order) {
  std::ifstream file(
      fmt::format("/sys/kernel/mm/transparent_hugepage/hugepages-{}kB/enabled", (page_bytes() << order) >> 10));
  std::string words;
  return std::getline(file, words) && words.find("[never]") == std::string::npos;
}

constexpr const char* kLightPages = "pages that the kernel zeroes are not counted with --light";

}  // namespace

bool TreePages::run_raw(const char* tracepoint, const Code& code) {
  const UniqueFd program = load_program(BPF_PROG_TYPE_RAW_TRACEPOINT, code);
  if (program) attached_.push_back(attach_raw(tracepoint, program.get()));
  return program && attached_.back();
}

bool TreePages::run(std::uint64_t tracepoint, const Code& code) {
  const UniqueFd program = load_program(BPF_PROG_TYPE_TRACEPOINT, code);
  if (program) attached_.push_back(attach(tracepoint, program.get()));
  return program && attached_.back();
}

bool TreePages::start() {
  const auto fork = read_trace_event("sched/sched_process_fork");
  const auto end = read_trace_event("sched/sched_process_free");
  if (!fork || !end || offset_of(*fork, "parent_pid") < 0 || offset_of(*fork, "child_pid") < 0 ||
      offset_of(*end, "pid") < 0)
    return false;
  const auto collapse = read_trace_event("huge_memory/mm_collapse_huge_page_isolate");
  const bool collapses = collapse && offset_of(*collapse, "none_or_zero") >= 0 && offset_of(*collapse, "status") >= 0;
  threads_ = make_map(BPF_MAP_TYPE_HASH, sizeof kCounted, kMostThreads);
  sums_ = make_map(BPF_MAP_TYPE_ARRAY, sizeof(Row), kRows);
  return threads_ && sums_ && run(end->id, note_end(threads_.get(), *end)) &&
         run(fork->id, note_fork(threads_.get(), sums_.get(), *fork)) &&
         run_raw("task_rename", note_exec(threads_.get())) &&
         (!collapses || run(collapse->id, note_collapse(threads_.get(), sums_.get(), *collapse))) &&
         run_raw("mm_page_alloc", count_pages(threads_.get(), sums_.get()));
}

std::unique_ptr<TreePages> TreePages::open(const std::vector<pid_t>& processes) {
  if (!in_first_pid_namespace().value_or(false)) return nullptr;
  std::unique_ptr<TreePages> made(new TreePages);
  if (!made->start()) return nullptr;
  const auto add = [&](pid_t thread, const std::uint32_t& how) {
    return write_map(made->threads_.get(), static_cast<std::uint32_t>(thread), &how);
  };
  const bool all = processes.empty() ? add(static_cast<pid_t>(::syscall(SYS_gettid)), kFromItsExecOn)
                                     : for_each_thread(processes, [&](pid_t thread) { return add(thread, kCounted); });
  return all ? std::move(made) : nullptr;
}

std::optional<TreePages::Counts> TreePages::read() const {
  Counts counts;
  std::uint64_t collapses = 0;
  for (std::uint32_t i = 0; i < kRows; ++i) {
    Row row;
    if (!read_map(sums_.get(), i, &row) || row.lost_threads != 0) return std::nullopt;
    counts.pages += row.pages;
    counts.fills += row.fills;
    counts.huge_pages += row.huge_pages;
    counts.holes += row.holes;
    collapses += row.collapses;
  }
  counts.huge_pages -= std::min(counts.huge_pages, collapses);
  return counts;
}

PageCounts::PageCounts() { open_sources(); }

PageCounts::PageCounts(const PerfScope& scope) : scope_(scope), cpus_(scope.is_open()) {
  open_sources();
  if (cpus_ && scope.has_us) ours_ = std::make_unique<PageCounts>(PerfScope{{::getpid()}});
}

void PageCounts::open_sources() {
  allow_many_files();
  // A perf event in a thread costs time at each switch of threads, several percent in a server that handles many small
  // requests.
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
    why_no_pages_ = "only root may count the pages that the kernel zeroes";
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

/// Opens the events of a source. If the kernel refuses, closes them all and returns false.
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
      std::uint64_t count = 0;  // the count includes threads that inherited the event
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
