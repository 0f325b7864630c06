#include "probe/loop_pass.h"

#include "os/clock.h"
#include "os/faults.h"
#include "os/perf_event.h"

namespace zerotax {

const char* run_loop(const Case& measured, Meter& meter, SampleBlock& samples) {
  const Request& request = samples.request;
  samples.phase = Phase::kTransfer;
  const CycleCounter counter;
  if (counter.reason()[0] != '\0') say(samples.na_cycles, counter.reason());
  const auto cycles = counter.read();
  const ThreadUsage before = thread_usage();
  const std::int64_t start = monotonic_ns();
  std::uint32_t done = 0;
  // A look after 1, 2, 3, …, then after every sixteenth more: a loop of short calls is not slowed down, and one of long
  // calls ends at most a sixteenth too late.
  std::uint32_t look = 1;
  while (done < request.ops) {
    if (!measured.operation(meter, request))
      return meter.failure() != nullptr ? meter.failure() : "the allocator returned NULL";
    ++done;
    if (request.budget_ns == 0 || done < look) continue;
    if (monotonic_ns() - start > request.budget_ns) break;
    look = done + 1 + done / 16;
  }
  const std::int64_t end = monotonic_ns();
  const ThreadUsage after = thread_usage();
  const auto cycles_after = counter.read();
  if (counter.reason()[0] == '\0' && !cycles_after)
    say(samples.na_cycles, "the counter of cycles was shared with others");
  samples.loop = {done,
                  end - start,
                  after.user_ns - before.user_ns,
                  after.kernel_ns - before.kernel_ns,
                  after.minor_faults - before.minor_faults,
                  after.voluntary_switches - before.voluntary_switches,
                  after.involuntary_switches - before.involuntary_switches,
                  cycles && cycles_after ? *cycles_after - *cycles : kNotMeasured};
  samples.ops_done = done;
  return nullptr;
}

}  // namespace zerotax
