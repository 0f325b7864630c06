// A mark contains the counts of a process at the time when its program read a clock. The library of bench/preload
// requests marks.
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/clock.h"
#include "record/preload/holdings.h"
#include "record/preload/process.h"
#include "record/preload/state.h"

namespace zerotax::record {
namespace {

/// Minimum time between marks. A mark takes some microseconds, so marks at shorter intervals would mostly measure each
/// other.
constexpr std::int64_t kLeastBetween_ns = 20'000;
constexpr std::uint32_t kAllOf = 8192;

std::atomic<std::int64_t> last_ns;

/// Maximum time between two readings that count as successive. A program that measures the clock's cost reads the
/// clock thousands of times in a row. A loop that a program times takes longer than this maximum.
constexpr std::int64_t kNear_ns = 10'000;
/// After this many successive readings, the newest mark also represents all following readings. The mark's time is
/// updated, but its counts are not.
constexpr unsigned kFlood = 4;

struct Readings {
  std::int64_t last_ns;
  unsigned near;
  Mark* newest;
};
constinit thread_local Readings readings [[gnu::tls_model("initial-exec")]] = {};

/// Whether an existing mark also represents this reading.
bool is_in_flood(std::int64_t now, std::int64_t real_ns) {
  const bool near = now - readings.last_ns < kNear_ns;
  readings.last_ns = now;
  readings.near = near ? readings.near + 1 : 0;
  if (readings.near < kFlood || readings.newest == nullptr) return false;
  readings.newest->ns = real_ns;
  readings.newest->later_readings += 1;
  return true;
}

/// Whether a reading of the CPU clock gets no mark, because the program pauses its clock.
bool is_left_out(std::int64_t now) {
  // Two loops may follow each other directly, but only a program that pauses its clock has this many marks.
  const bool many = arena->marks_used > kAllOf;
  return now - last_ns.exchange(now) < kLeastBetween_ns && many;
}

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

extern "C" [[gnu::visibility("default")]] void zerotax_record_mark(std::int64_t real_ns, int of_real_time) {
  if (process == nullptr || arena == nullptr || state.now.inside == Inside::kOwn || process->pid != ::getpid()) return;
  const OwnWork own;
  const std::int64_t now = monotonic_ns();
  if (of_real_time != 0 ? is_in_flood(now, real_ns) : is_left_out(now)) return;
  const std::uint32_t index = arena->marks_used.fetch_add(1);
  if (index >= kMarks) return;
  Mark& mark = arena->marks[index];
  // The mark's page belongs to the recorder, and is populated before the program's faults are counted.
  if ((reinterpret_cast<std::uintptr_t>(&mark) & (page_bytes() - 1)) < sizeof(Mark)) have_pages(&mark, sizeof mark);
  mark.pid = process->pid;
  mark.tid = static_cast<std::int32_t>(::syscall(SYS_gettid));
  fill(mark);
  mark.ns = real_ns;
  mark.ready = 1;
  // The mark's own time does not count.
  if (of_real_time != 0) readings = {monotonic_ns(), readings.near, &mark};
}

}  // namespace zerotax::record
