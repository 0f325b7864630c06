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
#include "meter/case.h"
#include "meter/faults_meter.h"
#include "meter/meter.h"
#include "meter/probe_exit.h"
#include "meter/zeroing.h"
#include "os/clock.h"
#include "os/faults.h"
#include "probe/inherited.h"

namespace zerotax {
namespace {

/// A pause that a signal cuts short is not made up for.
void pause_for(std::int64_t ns) {
  if (ns <= 0) return;
  const timespec time{ns / 1'000'000'000, ns % 1'000'000'000};
  ::nanosleep(&time, nullptr);
}

/// Marks in the record where the process is, around another meter, and controls the time that the allocator reads.
class TracedMeter final : public Meter {
 public:
  TracedMeter(Meter& inner, Record& record) : inner_(inner), record_(record) {}

  void* allocate(std::size_t bytes) override {
    pause_for(record_.request.pause_ns);
    record_.phase = Phase::kCalloc;
    errno = 0;
    void* block = nullptr;
    {
      const AllocatorClock::Scope clock;
      block = inner_.allocate(bytes);
    }
    end_if_forked();
    if (block == nullptr) record_.returned_null = static_cast<std::uint32_t>(errno);
    record_.phase = Phase::kBetween;
    return block;
  }
  void touch(void* block, std::size_t bytes, double fraction) override {
    record_.phase = Phase::kTouch;
    inner_.touch(block, bytes, fraction);
    record_.phase = Phase::kBetween;
  }
  void begin_receive() override {
    record_.phase = Phase::kReceive;
    inner_.begin_receive();
  }
  void end_receive(std::size_t bytes) override {
    inner_.end_receive(bytes);
    Meter::end_receive(bytes);
    record_.phase = Phase::kBetween;
  }
  bool fork_and_write(void* block, std::size_t bytes) override {
    record_.phase = Phase::kFork;
    if (!inner_.fork_and_write(block, bytes)) {
      fail(inner_.failure());
      return false;
    }
    record_.phase = Phase::kBetween;
    return true;
  }
  void release(void* block) override {
    pause_for(record_.request.pause_ns);
    record_.phase = Phase::kFree;
    {
      const AllocatorClock::Scope clock;
      inner_.release(block);
    }
    end_if_forked();
    record_.phase = Phase::kBetween;
  }

 private:
  /// The child of an allocator that forks inside a call and comes back in both is another process: it must not go on in
  /// the record of the first.
  void end_if_forked() const {
    if (::getpid() != self_) ::_exit(0);
  }

  Meter& inner_;
  Record& record_;
  pid_t self_ = ::getpid();
};

struct Run {
  Record& record;
  const Case& measured;
  bool case_failed = false;  ///< record.failure says why
};

void set_failure(Run& run, const char* why) {
  say(run.record.failure, why);
  run.case_failed = true;
}

/// The meters live here, not on the heap: the allocator under test serves the case alone.
alignas(AuditMeter) unsigned char meter_storage[sizeof(AuditMeter) + sizeof(ZeroingMeter) + sizeof(DifferentialMeter) +
                                                sizeof(FaultsMeter)];

Meter& make_meter(Record& record) {
  switch (record.request.pass) {
    case Pass::kTiming:
      return *new (&meter_storage[0]) TimingMeter;
    case Pass::kZeroing:
      return *new (&meter_storage[0]) ZeroingMeter(record);
    case Pass::kAudit:
      return *new (&meter_storage[0]) AuditMeter(record);
    case Pass::kDifferential:
      return *new (&meter_storage[0]) DifferentialMeter(record);
    case Pass::kFaults:
      return *new (&meter_storage[0]) FaultsMeter(record);
    case Pass::kBare:
      break;
  }
  return *new (&meter_storage[0]) BareMeter;
}

void run_recorded(Run& run, Meter& meter) {
  Record& record = run.record;
  TracedMeter traced(meter, record);
  const Request& request = record.request;
  const std::int64_t start = monotonic_ns();
  const std::uint32_t warm = request.ops / 2;
  std::int64_t warmed_up = start;
  for (std::uint32_t i = 0; i < request.ops; ++i) {
    if (i == warm) warmed_up = monotonic_ns();
    record.ops_started = i + 1;
    clear_operation(record.ops[i]);
    meter.begin_operation(record.ops[i]);
    const bool done = run.measured.operation(traced, request);
    meter.end_operation();
    record.ops[i].received_bytes = traced.take_received();
    if (!done) {
      if (traced.failure() != nullptr) set_failure(run, traced.failure());
      return;
    }
    record.ops_done = i + 1;
    if (i >= warm) {
      record.run_ns = monotonic_ns() - warmed_up;
      record.run_ops = i + 1 - warm;
    }
    if (request.budget_ns > 0 && i + 1 >= request.min_ops && monotonic_ns() - start > request.budget_ns) {
      return;
    }
  }
}

/// The case again, without any meter, for as long as kTransferNs and at least once.
void run_transfer(Run& run) {
  Record& record = run.record;
  record.phase = Phase::kTransfer;
  BareMeter meter;
  Transfer transfer{};
  const std::int64_t faults = thread_minor_faults();
  const std::int64_t cpu = thread_cpu_ns();
  const std::int64_t start = monotonic_ns();
  while (transfer.wall_ns < kTransferNs) {
    if (!run.measured.operation(meter, record.request)) {
      set_failure(run, meter.failure() != nullptr ? meter.failure() : "calloc returned NULL");
      return;
    }
    ++transfer.ops;
    transfer.wall_ns = monotonic_ns() - start;
  }
  transfer.cpu_ns = thread_cpu_ns() - cpu;
  transfer.faults = faults < 0 ? kNotMeasured : thread_minor_faults() - faults;
  transfer.received_bytes = meter.take_received();
  record.transfer = transfer;
}

/// The first half warms up; the second half lies between two clocks.
void run_bare(Run& run, Meter& meter) {
  Record& record = run.record;
  record.phase = Phase::kTransfer;
  const std::uint32_t warm = record.request.ops / 2;
  std::int64_t start = 0;
  for (std::uint32_t i = 0; i < record.request.ops; ++i) {
    if (i == warm) start = monotonic_ns();
    if (!run.measured.operation(meter, record.request)) {
      if (meter.failure() != nullptr) set_failure(run, meter.failure());
      return;
    }
  }
  record.run_ns = monotonic_ns() - start;
  record.run_ops = record.request.ops - warm;
  record.ops_done = record.request.ops;
}

void* run(void* context) {
  auto& run = *static_cast<Run*>(context);
  // The first reading of each clock and counter may fault: not inside a measured window.
  monotonic_ns();
  thread_minor_faults();
  thread_cpu_ns();
  Record& record = run.record;
  record.receives = run.measured.receives ? 1 : 0;
  record.forks = run.measured.forks ? 1 : 0;
  AllocatorClock::install(record.request.clock);
  if (run.measured.begin != nullptr) {
    record.phase = Phase::kSetUp;
    if (const char* why = run.measured.begin(record.request)) {
      set_failure(run, why);
      return nullptr;
    }
  }
  Meter& meter = make_meter(record);
  if (record.request.pass == Pass::kBare) {
    run_bare(run, meter);
  } else {
    run_recorded(run, meter);
    const bool complete = record.ops_done == record.ops_started;
    if (complete) meter.finish();
    if (record.request.pass == Pass::kTiming && run.measured.receives && complete) run_transfer(run);
  }
  if (run.measured.end != nullptr) run.measured.end();
  return nullptr;
}

}  // namespace

int run_point(int fd) {
  const int own = inherited_file(fd, sizeof(Record));
  if (own < 0) {
    probe_say("the descriptor of the record is closed", 0);
    return kNoRecord;
  }
  struct stat file {};
  ::fstat(own, &file);
  const auto bytes = static_cast<std::size_t>(file.st_size);
  // Populated now: a fault on the record must not be counted as the allocator's.
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, own, 0);
  if (memory == MAP_FAILED) {
    probe_say("cannot map its record", errno);
    return kNoMachine;
  }
  auto& record = *static_cast<Record*>(memory);
  record.request.case_name[sizeof record.request.case_name - 1] = '\0';
  const Case* measured = find_case(&record.request.case_name[0]);
  if (record.request.magic != kRecordMagic || bytes < Record::bytes(record.request.ops) || measured == nullptr) {
    probe_say("the record comes from another build", 0);
    return kWrongRecord;
  }

  Run context{record, *measured};
  const pid_t self = ::getpid();
  if (record.request.thread == Thread::kWorker) {
    pthread_t worker{};
    if (const int error = ::pthread_create(&worker, nullptr, run, &context); error != 0) {
      probe_say("cannot start a thread", error);
      return kNoMachine;
    }
    ::pthread_join(worker, nullptr);
  } else {
    run(&context);
  }
  // The phase stays: it says what failed.
  if (context.case_failed) return kCaseFailed;
  // An allocator that forks and goes on in the child has ended the process that is measured.
  if (::getpid() == self) record.phase = Phase::kDone;
  return 0;
}

}  // namespace zerotax
