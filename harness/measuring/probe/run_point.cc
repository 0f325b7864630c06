#include "probe/run_point.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <new>

#include "meter/allocator_clock.h"
#include "meter/audit.h"
#include "meter/faults_meter.h"
#include "meter/meter.h"
#include "meter/probe_exit.h"
#include "meter/sample_block.h"
#include "meter/zeroing.h"
#include "meter/zeroing_hook.h"
#include "os/clock.h"
#include "os/faults.h"
#include "os/perf_event.h"
#include "probe/inherited.h"

namespace zerotax {
namespace {

/// Makes the loop pass: the operations of a case in one loop. If the request has a budget, the loop reads the clock
/// occasionally. Fills in SampleBlock::loop and ops_done. Returns nullptr, or the reason for a failure.
const char* run_loop(const Case& measured, Meter& meter, SampleBlock& samples) {
  const Request& request = samples.request;
  samples.phase = Phase::kTransfer;
  const CycleCounter counter;
  if (counter.reason()[0] != '\0') say(samples.na_cycles, counter.reason());
  const auto cycles = counter.read();
  const ThreadUsage before = thread_usage();
  const std::int64_t start = monotonic_ns();
  std::uint32_t done = 0;
  // The clock is read after each of the first operations, and later only after every further sixteenth of the
  // operations made so far. Readings therefore do not slow down a loop of short calls, and a loop of long calls ends at
  // most a sixteenth too late.
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
    say(samples.na_cycles, "the cycle counter did not run during the whole measurement");
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

/// Sleeps. A pause that a signal interrupts is not resumed.
void pause_for(std::int64_t ns) {
  if (ns <= 0) return;
  const timespec time{ns / 1'000'000'000, ns % 1'000'000'000};
  ::nanosleep(&time, nullptr);
}

/// A meter around another meter. Records the phase of the process in the sample block, and controls the time that the
/// allocator reads.
class TracedMeter final : public Meter {
 public:
  TracedMeter(Meter& inner, SampleBlock& samples) : inner_(inner), samples_(samples) {}

  void* allocate(std::size_t bytes) override {
    pause_for(samples_.request.pause_ns);
    samples_.phase = Phase::kCalloc;
    errno = 0;
    void* block = nullptr;
    {
      const AllocatorClock::Scope clock;
      block = inner_.allocate(bytes);
    }
    end_if_forked();
    if (block == nullptr) samples_.returned_null = static_cast<std::uint32_t>(errno);
    samples_.phase = Phase::kBetween;
    return block;
  }
  void touch(void* block, std::size_t bytes, double fraction) override {
    samples_.phase = Phase::kTouch;
    inner_.touch(block, bytes, fraction);
    samples_.phase = Phase::kBetween;
  }
  void read(void* block, std::size_t bytes, double fraction) override {
    samples_.phase = Phase::kTouch;
    inner_.read(block, bytes, fraction);
    samples_.phase = Phase::kBetween;
  }
  void begin_receive() override {
    samples_.phase = Phase::kReceive;
    inner_.begin_receive();
  }
  void end_receive(std::size_t bytes) override {
    inner_.end_receive(bytes);
    Meter::end_receive(bytes);
    samples_.phase = Phase::kBetween;
  }
  bool fork_and_write(void* block, std::size_t bytes) override {
    samples_.phase = Phase::kFork;
    if (!inner_.fork_and_write(block, bytes)) {
      fail(inner_.failure());
      return false;
    }
    samples_.phase = Phase::kBetween;
    return true;
  }
  void release(void* block) override {
    pause_for(samples_.request.pause_ns);
    samples_.phase = Phase::kFree;
    {
      const AllocatorClock::Scope clock;
      inner_.release(block);
    }
    end_if_forked();
    samples_.phase = Phase::kBetween;
  }

 private:
  /// Ends the child if the allocator forked inside a call and returned in both processes. The child must not write to
  /// the parent's metrics.
  void end_if_forked() const {
    if (::getpid() != self_) ::_exit(0);
  }

  Meter& inner_;
  SampleBlock& samples_;
  pid_t self_ = ::getpid();
};

struct Run {
  SampleBlock& samples;
  const Case& measured;
  bool case_failed = false;  ///< the reason is in samples.failure
};

void set_failure(Run& run, const char* why) {
  say(run.samples.failure, why);
  run.case_failed = true;
}

/// Storage of the meters. The meters are not on the heap, because only the case may use the allocator under test.
alignas(AuditMeter) unsigned char meter_storage[sizeof(AuditMeter) + sizeof(ZeroingMeter) + sizeof(DifferentialMeter) +
                                                sizeof(FaultsMeter) + sizeof(HeldMeter)];

Meter& make_meter(SampleBlock& samples) {
  switch (samples.request.pass) {
    case Pass::kTiming:
      return *new (&meter_storage[0]) TimingMeter;
    case Pass::kZeroing:
      return *new (&meter_storage[0]) ZeroingMeter(samples);
    case Pass::kAudit:
      return *new (&meter_storage[0]) AuditMeter(samples);
    case Pass::kDifferential:
      return *new (&meter_storage[0]) DifferentialMeter(samples);
    case Pass::kFaults:
      return *new (&meter_storage[0]) FaultsMeter(samples);
    case Pass::kHeld:
      return *new (&meter_storage[0]) HeldMeter(samples);
    case Pass::kBare:
    case Pass::kLoop:
      break;
  }
  return *new (&meter_storage[0]) BareMeter;
}

void run_recorded(Run& run, Meter& meter) {
  SampleBlock& samples = run.samples;
  TracedMeter traced(meter, samples);
  const Request& request = samples.request;
  const std::int64_t start = monotonic_ns();
  const std::uint32_t warm = request.ops / 2;
  std::int64_t warmed_up = start;
  for (std::uint32_t i = 0; i < request.ops; ++i) {
    if (i == warm) warmed_up = monotonic_ns();
    samples.ops_started = i + 1;
    clear_operation(samples.ops[i]);
    meter.begin_operation(samples.ops[i]);
    const bool done = run.measured.operation(traced, request);
    meter.end_operation();
    samples.ops[i].received_bytes = traced.take_received();
    if (!done) {
      if (traced.failure() != nullptr) set_failure(run, traced.failure());
      return;
    }
    samples.ops_done = i + 1;
    if (i >= warm) {
      samples.run_ns = monotonic_ns() - warmed_up;
      samples.run_ops = i + 1 - warm;
    }
    if (request.budget_ns > 0 && i + 1 >= request.min_ops && monotonic_ns() - start > request.budget_ns) {
      return;
    }
  }
}

/// Repeats the case without any meter for at least kTransferNs, and at least once.
void run_transfer(Run& run) {
  SampleBlock& samples = run.samples;
  samples.phase = Phase::kTransfer;
  BareMeter meter;
  if (run.measured.mallocs) meter.use_malloc();
  Transfer transfer{};
  const std::int64_t faults = thread_minor_faults();
  const std::int64_t cpu = thread_cpu_ns();
  const std::int64_t start = monotonic_ns();
  while (transfer.wall_ns < kTransferNs) {
    if (!run.measured.operation(meter, samples.request)) {
      set_failure(run, meter.failure() != nullptr ? meter.failure() : "calloc returned NULL");
      return;
    }
    ++transfer.ops;
    transfer.wall_ns = monotonic_ns() - start;
  }
  transfer.cpu_ns = thread_cpu_ns() - cpu;
  transfer.faults = faults < 0 ? kNotMeasured : thread_minor_faults() - faults;
  transfer.received_bytes = meter.take_received();
  samples.transfer = transfer;
}

/// Makes the bare pass. The first half of the operations warms up; the second half is between two clock readings.
void run_bare(Run& run, Meter& meter) {
  SampleBlock& samples = run.samples;
  samples.phase = Phase::kTransfer;
  const std::uint32_t warm = samples.request.ops / 2;
  std::int64_t start = 0;
  for (std::uint32_t i = 0; i < samples.request.ops; ++i) {
    if (i == warm) start = monotonic_ns();
    if (!run.measured.operation(meter, samples.request)) {
      if (meter.failure() != nullptr) set_failure(run, meter.failure());
      return;
    }
  }
  samples.run_ns = monotonic_ns() - start;
  samples.run_ops = samples.request.ops - warm;
  samples.ops_done = samples.request.ops;
}

void* run(void* context) {
  auto& run = *static_cast<Run*>(context);
  use_real_functions();
  // The first reading of each clock and counter may take a fault, which must not happen inside a measured window.
  monotonic_ns();
  thread_minor_faults();
  thread_cpu_ns();
  SampleBlock& samples = run.samples;
  samples.receives = run.measured.receives ? 1 : 0;
  samples.forks = run.measured.forks ? 1 : 0;
  samples.mallocs = run.measured.mallocs ? 1 : 0;
  AllocatorClock::install(samples.request.clock);
  if (run.measured.begin != nullptr) {
    samples.phase = Phase::kSetUp;
    if (const char* why = run.measured.begin(samples.request)) {
      set_failure(run, why);
      return nullptr;
    }
  }
  Meter& meter = make_meter(samples);
  if (run.measured.mallocs) meter.use_malloc();
  if (samples.request.pass == Pass::kBare) {
    run_bare(run, meter);
  } else if (samples.request.pass == Pass::kLoop) {
    if (const char* why = run_loop(run.measured, meter, samples)) set_failure(run, why);
  } else {
    run_recorded(run, meter);
    const bool complete = samples.ops_done == samples.ops_started;
    if (complete) meter.finish();
    if (samples.request.pass == Pass::kTiming && run.measured.receives && complete) run_transfer(run);
  }
  if (run.measured.end != nullptr) run.measured.end();
  return nullptr;
}

/// Starts the worker with a stack of the usual size, or with a small stack if the process may not have a larger one
/// (RLIMIT_AS). Returns the result of pthread_create.
int start_worker(pthread_t& worker, Run& context) {
  const int error = ::pthread_create(&worker, nullptr, run, &context);
  if (error == 0) return 0;
  constexpr std::size_t kSmallStack = std::size_t{512} << 10;
  pthread_attr_t small;
  if (::pthread_attr_init(&small) != 0 || ::pthread_attr_setstacksize(&small, kSmallStack) != 0) return error;
  const int again = ::pthread_create(&worker, &small, run, &context);
  ::pthread_attr_destroy(&small);
  return again;
}

}  // namespace

int run_point(int fd) {
  const int own = inherited_file(fd, sizeof(SampleBlock));
  if (own < 0) {
    probe_say("the descriptor of the sample block is closed", 0);
    return kNoSampleBlock;
  }
  struct stat file {};
  ::fstat(own, &file);
  const auto bytes = static_cast<std::size_t>(file.st_size);
  // The sample block is populated now, because a fault on it must not count as a fault of the allocator.
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, own, 0);
  if (memory == MAP_FAILED) {
    probe_say("cannot map its sample block", errno);
    return kNoMachine;
  }
  auto& samples = *static_cast<SampleBlock*>(memory);
  samples.request.case_name[sizeof samples.request.case_name - 1] = '\0';
  const Case* measured = find_case(&samples.request.case_name[0]);
  if (samples.request.magic != kSampleBlockMagic ||
      bytes < SampleBlock::bytes(SampleBlock::recorded(samples.request)) || measured == nullptr) {
    probe_say("the sample block comes from another build", 0);
    return kWrongSampleBlock;
  }

  Run context{samples, *measured};
  const pid_t self = ::getpid();
  if (samples.request.thread == Thread::kWorker) {
    pthread_t worker{};
    if (const int error = start_worker(worker, context); error != 0) {
      probe_say("cannot start a thread", error);
      return kNoMachine;
    }
    ::pthread_join(worker, nullptr);
  } else {
    run(&context);
  }
  // The phase is left unchanged, because it shows which step failed.
  if (context.case_failed) return kCaseFailed;
  // If the allocator forked and this is the child, the measured process has ended.
  if (::getpid() == self) samples.phase = Phase::kDone;
  return 0;
}

}  // namespace zerotax
