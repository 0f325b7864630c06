#include "os/tree_pages.h"

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "os/bpf.h"
#include "os/page_allocations.h"
#include "os/pid_namespace.h"
#include "os/process_info.h"
#include "os/trace_event.h"

namespace zerotax {
namespace {

using namespace bpf;

/// Values in the map of threads, and its size.
constexpr std::uint32_t kCounted = 1;
constexpr std::uint32_t kFromItsExecOn = 2;
constexpr std::uint32_t kMostThreads = 32'768;

/// Rows of sums, each in a cache line of its own. CPUs that are kRows apart share a row.
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

/// -1 if the field does not exist.
std::int16_t offset_of(const TraceEvent& event, const char* field) {
  const auto found = event.fields.find(field);
  return found != event.fields.end() ? static_cast<std::int16_t>(found->second.offset) : std::int16_t{-1};
}

Code leave_it() { return {set(r0, 1), leave()}; }

/// Puts the map's value for the thread ID in `r7` into `r8`; ends the program if there is no value.
Code look_up_thread(int threads) {
  return Code{store(BPF_W, stack, kKey, r7), move(r2, stack), add(r2, kKey)} + map_address(r1, threads) +
         Code{call(BPF_FUNC_map_lookup_elem), jump_if(BPF_JNE, r0, 0, 2)} + leave_it() + Code{load(BPF_W, r8, r0, 0)};
}

Code current_thread() { return {call(BPF_FUNC_get_current_pid_tgid), move(r7, r0)}; }

/// Puts the address of this CPU's row into `r0`.
Code row_of_cpu(int sums) {
  return Code{call(BPF_FUNC_get_smp_processor_id), mask(r0, kRows - 1), store(BPF_W, stack, kKey, r0), move(r2, stack),
              add(r2, kKey)} +
         map_address(r1, sums) + Code{call(BPF_FUNC_map_lookup_elem), jump_if(BPF_JNE, r0, 0, 2)} + leave_it();
}

/// Ends the program unless the current thread counts.
Code check_thread(int threads) {
  return current_thread() + look_up_thread(threads) + Code{jump_if(BPF_JEQ, r8, kCounted, 2)} + leave_it();
}

/// mm_page_alloc: its page, order, flags, and migratetype.
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

/// mm_collapse_huge_page_isolate: MADV_COLLAPSE has allocated a huge page, and copies pages into it. It zeroes only the
/// holes between them (__collapse_huge_page_copy() in mm/khugepaged.c), and nothing unless the status is
/// SCAN_SUCCEED (1).
Code note_collapse(int threads, int sums, const TraceEvent& event) {
  return Code{load(BPF_W, r6, r1, offset_of(event, "none_or_zero")), load(BPF_W, r9, r1, offset_of(event, "status"))} +
         check_thread(threads) + row_of_cpu(sums) +
         Code{set(r1, 1), atomic_add(r0, kCollapses, r1), jump_if(BPF_JNE, r9, 1, 1), atomic_add(r0, kHoles, r6)} +
         leave_it();
}

/// task_rename: exec calls it where it also starts the perf events that wait for an exec. Our own calls do not count,
/// as we may name our threads.
Code note_exec(int threads) {
  return Code{call(BPF_FUNC_get_current_pid_tgid), move(r7, r0), move(r6, r0), shift_right(r6, 32),
              jump_if(BPF_JNE, r6, ::getpid(), 2)} +
         leave_it() + look_up_thread(threads) + Code{jump_if(BPF_JEQ, r8, kFromItsExecOn, 2)} + leave_it() +
         Code{set(r1, kCounted), store(BPF_W, r0, 0, r1)} + leave_it();
}

/// sched_process_fork: a new thread takes its parent's value.
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

/// sched_process_free: another thread may get the ID.
Code note_end(int threads, const TraceEvent& event) {
  const std::int16_t thread = offset_of(event, "pid");
  return Code{load(BPF_W, r7, r1, thread), store(BPF_W, stack, kKey, r7), move(r2, stack), add(r2, kKey)} +
         map_address(r1, threads) + Code{call(BPF_FUNC_map_delete_elem)} + leave_it();
}

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

}  // namespace zerotax
