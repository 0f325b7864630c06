// One run of the case fork_snapshot under one alternative: fork-snapshot KEY=VALUE... (parameters.h), or --list. Prints
// its figures as lines KEY=NUMBER, and "status=ok", or "status=skipped" and a reason. ../README.md says what each is.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>

#include "alternative.h"
#include "checkpointers.h"
#include "memory.h"
#include "memory_sampler.h"
#include "os/clock.h"
#include "os/process_pagemap.h"
#include "verify.h"
#include "writers.h"

namespace snapshot {
namespace {

void print(const char* key, std::int64_t number) { std::printf("%s=%lld\n", key, static_cast<long long>(number)); }
void print(const char* key, std::uint64_t number) { print(key, static_cast<std::int64_t>(number)); }

/// All faults of this process so far, and when that was.
struct FaultCount {
  std::int64_t faults = 0;
  std::int64_t at_ns = 0;
};

FaultCount count_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return {usage.ru_minflt + usage.ru_majflt, zerotax::monotonic_ns()};
}

/// Pages of the array that this process alone maps.
std::uint64_t exclusive_pages(const Job& job) {
  zerotax::ProcessPagemaps pagemaps;
  std::uint64_t found = 0;
  pagemaps.for_each(::getpid(), job.array,
                    [&](std::uint64_t, zerotax::PagemapEntry entry) { found += entry.exclusive() ? 1 : 0; });
  return found;
}

/// Says nothing but why, and ends the program: threads stand where they stood.
[[noreturn]] void fail(const std::exception& failure) {
  std::fprintf(stderr, "fork-snapshot: %s\n", failure.what());
  std::fflush(stdout);
  ::_exit(3);
}

void run(Alternative& alternative, const Parameters& parameters) {
  Job job;
  job.parameters = parameters;
  SharedMemory shared_control("zerotax-control", sizeof(Control), true);
  job.control =
      new (reinterpret_cast<void*>(shared_control.range().begin)) Control;  // NOLINT(performance-no-int-to-ptr)
  SharedMemory copy("zerotax-snapshot", parameters.array_bytes, true);
  job.copy = reinterpret_cast<unsigned char*>(copy.range().begin);  // NOLINT(performance-no-int-to-ptr)
  SharedMemory shared_array;
  if (alternative.wants_shared_array()) shared_array = SharedMemory("zerotax-array", parameters.array_bytes, false);
  job.array = alternative.wants_shared_array() ? shared_array.range() : private_array(parameters.array_bytes);
  alternative.prepare(job);
  fill(job);

  Writers writers(job);
  std::optional<MemorySampler> sampler;
  if (parameters.memory) {
    sampler.emplace([&] { return job.control->child.load(); },
                    [&] { return copy.populated_bytes() + shared_array.populated_bytes(); });
  }
  writers.start();
  writers.wait_for_stop();
  const FaultCount before = count_faults();
  const std::int64_t stopped = zerotax::monotonic_ns();
  alternative.begin(job);
  const std::int64_t released = zerotax::monotonic_ns();
  const bool all_first = parameters.hold >= 1 && alternative.takes_snapshot();
  if (all_first) {
    alternative.finish(job);
  } else if (parameters.hold > 0 && alternative.takes_snapshot()) {
    wait_until([&] { return job.control->batches_done >= parameters.held_batches(); });
  }
  std::int64_t gone = zerotax::monotonic_ns();
  const std::int64_t went_on = parameters.hold < 0 ? released : gone;
  const auto look_at_pagemap = [&] {
    gone = zerotax::monotonic_ns();
    if (parameters.pagemap && job.control->child != 0) print("exclusive_pages", exclusive_pages(job));
  };
  if (all_first) look_at_pagemap();
  writers.go_on();
  if (!all_first) {
    alternative.finish(job);
    look_at_pagemap();
  }
  writers.join();
  const FaultCount after = count_faults();
  if (sampler) sampler->finish();

  print("array_begin", job.array.begin);
  print("array_end", job.array.end);
  print("pid", std::int64_t{::getpid()});
  print("child", std::int64_t{job.control->child});
  print("begin_ns", writers.begin_ns());
  print("stopped_ns", stopped);
  print("released_ns", released);
  print("went_on_ns", went_on);
  print("complete_ns", job.control->complete_ns);
  print("gone_ns", gone);
  print("end_ns", writers.end_ns());
  print("writers_user_ns", writers.user_ns());
  print("writers_system_ns", writers.system_ns());
  print("told_by_sharing", std::int64_t{alternative.told_by_sharing() ? 1 : 0});
  print("window_begin_ns", before.at_ns);
  print("window_end_ns", after.at_ns);
  print("window_faults", after.faults - before.faults);
  if (sampler) {
    print("first_bytes", sampler->first_bytes());
    print("peak_bytes", sampler->peak_bytes());
    print("memory_samples", sampler->samples());
  }
  if (alternative.takes_snapshot()) {
    const Verdict verdict = verify(job, writers.positions());
    print("checked_elements", verdict.checked);
    print("wrong_elements", verdict.wrong);
    print("first_wrong", verdict.first_wrong);
  }
  std::printf("status=ok\n");
}

int list() {
  for (const Registered& entry : all_alternatives()) {
    const char* kind = entry.kind == Registration::Kind::kPublic ? "public" : "planted";
    std::printf("%s\t%s\t%s\n", entry.name.c_str(), kind, entry.summary.c_str());
  }
  return 0;
}

}  // namespace
}  // namespace snapshot

int main(int count, char** words) {
  if (count == 2 && std::string(words[1]) == "--list") return snapshot::list();
  snapshot::Parameters parameters;
  try {
    parameters = snapshot::parse_parameters(count, words);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "fork-snapshot: %s\n", failure.what());
    return 2;
  }
  try {
    const auto alternative = snapshot::make_alternative(parameters.alternative);
    if (!alternative) {
      std::fprintf(stderr, "fork-snapshot: no alternative '%s' (--list has them)\n", parameters.alternative.c_str());
      return 2;
    }
    const std::string why_not = alternative->why_not();
    if (why_not.empty()) {
      snapshot::run(*alternative, parameters);
    } else {
      std::printf("status=skipped\nreason=%s\n", why_not.c_str());
    }
    return 0;
  } catch (const std::exception& failure) {
    snapshot::fail(failure);
  }
}
