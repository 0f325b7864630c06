// Marks of a program's clock: what was counted until then. For the library of bench/preload, which knows when.
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/clock.h"
#include "record/preload/holdings.h"
#include "record/preload/process.h"
#include "record/preload/state.h"

namespace zerotax::record {
namespace {

/// A mark takes some microseconds: those that follow each other faster would be about nothing else.
constexpr std::int64_t kLeastBetween_ns = 20'000;
constexpr std::uint32_t kAllOf = 8192;

std::atomic<std::int64_t> last_ns;

void fill(Mark& mark) {
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    const ThreadBlock& block = process->threads[i];
    if (block.state == BlockState::kFree && i >= process->threads_used) break;
    for (std::size_t k = 0; k < kClasses; ++k) {
      mark.zeroed_bytes += block.zeroed[kInCalloc][k].bytes + block.zeroed[kInOther][k].bytes;
      mark.by_hand_bytes += block.zeroed[kByHand][k].bytes + block.zeroed[kCleared][k].bytes;
      for (const auto& call : block.calls) mark.calls += call[k].calls;
    }
  }
  const Holdings& holdings = process->holdings;
  mark.anonymous_bytes = look_at_holdings();
  mark.peak_bytes = holdings.peak_bytes;
  mark.returned_bytes = holdings.returned_bytes;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  mark.minor_faults = static_cast<std::uint64_t>(usage.ru_minflt) - holdings.own_faults;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] void zerotax_record_mark(std::int64_t real_ns) {
  // The recorder reads clocks, too.
  if (process == nullptr || arena == nullptr || state.now.inside == Inside::kOwn || process->pid != ::getpid()) return;
  const std::int64_t now = monotonic_ns();
  // A loop may begin right after another has ended: only a program that pauses its clock has so many.
  const bool many = arena->marks_used > kAllOf;
  if (now - last_ns.exchange(now) < kLeastBetween_ns && many) return;
  const OwnWork own;
  const std::uint32_t index = arena->marks_used.fetch_add(1);
  if (index >= kMarks) return;
  Mark& mark = arena->marks[index];
  // Its page is ours, not the program's: populated before it is counted.
  if ((reinterpret_cast<std::uintptr_t>(&mark) & (kPageBytes - 1)) < sizeof(Mark)) have_pages(&mark, sizeof mark);
  mark.pid = process->pid;
  mark.tid = static_cast<std::int32_t>(::syscall(SYS_gettid));
  fill(mark);
  mark.ns = real_ns;
  mark.ready = 1;
}

}  // namespace zerotax::record
