#include "record/preload/quiet_child.h"

#include <unistd.h>

#include <optional>

#include "os/clock.h"
#include "record/preload/calls.h"
#include "record/preload/file_pages.h"
#include "record/preload/kept_file.h"
#include "record/preload/live_heap.h"
#include "record/preload/process.h"
#include "record/preload/resident.h"
#include "record/preload/state.h"

namespace zerotax::record {
namespace {

/// Maximum number of faults of a quiet child. A child without work of its own takes about 30 faults: copies of its
/// stack and data, and pages of the C library's code.
constexpr std::uint64_t kQuietFaults = 128;

std::optional<AtFork> at_fork;

// A new child has one thread, so /proc/self suffices. The kernel creates fewer entries for this path than for
// /proc/thread-self.
constinit KeptFile statm("/proc/self/statm");

}  // namespace

bool begin_quiet_child() {
  // A child is not quiet if the parent tracks blocks, file pages or huge pages, because the child needs a copy of that
  // account.
  if (process == nullptr || calls_noted || resident_kept || live_heap_counted || has_noted_file_pages() ||
      process->holdings.hugetlb_mapped_bytes != 0 || (process->gaps & kNoHoldings) != 0) {
    return false;
  }
  const OwnWork own;
  statm.drop();
  const auto now = read_resident(statm.get());
  if (!now) return false;
  at_fork = {::getpid(), monotonic_ns(), *now, own_minor_faults()};
  ++process->holdings.quiet_begun;
  return true;
}

const AtFork* quiet_since() { return at_fork && at_fork->pid == ::getpid() ? &*at_fork : nullptr; }

bool end_quiet_child() {
  const bool was_quiet = quiet_since() != nullptr;
  at_fork.reset();
  statm.drop();
  return was_quiet;
}

bool stays_quiet() {
  if (quiet_since() == nullptr) return false;
  {
    const OwnWork own;
    const auto now = read_resident(statm.check());
    if (now && now->anonymous <= at_fork->resident.anonymous && own_minor_faults() <= kQuietFaults) return true;
  }
  prepare(state);
  return false;
}

SharerUse note_quiet_end(bool execs) {
  ++(execs ? process->holdings.quiet_execs : process->holdings.quiet_ended);
  return add_own_use();
}

void take_back_quiet_end(SharerUse use) {
  take_back_use(use);
  --process->holdings.quiet_execs;
}

}  // namespace zerotax::record
