// Makes one run of the case fork_snapshot with one alternative, and writes a RunBlock (run_block.h). Usage:
// fork-snapshot KEY=VALUE... (job.h), or fork-snapshot --list. cases/fork_snapshot/README.md describes the arguments.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>

#include "os/clock.h"
#include "os/process_pagemap.h"
#include "snapshot/process/alternative.h"
#include "snapshot/process/forked_child.h"
#include "snapshot/process/placement.h"
#include "snapshot/process/run_block.h"
#include "snapshot/process/samplers.h"
#include "snapshot/process/writers.h"

namespace zerotax::snapshot {
namespace {

void* pointer_to(AddressRange range) {
  return reinterpret_cast<void*>(range.begin);  // NOLINT(performance-no-int-to-ptr)
}

/// Prints the reason and ends the program at once, because paused threads cannot be joined.
[[noreturn]] void fail(const char* why) {
  std::fprintf(stderr, "fork-snapshot: %s\n", why);
  ::_exit(3);
}

/// Ends the program after an exception that cannot reach main: either a thread threw it, or threads are running that
/// cannot be joined.
[[noreturn]] void fail_at_once() { fail("there is too little memory, or no further thread is allowed"); }

void write_block(const Parameters& parameters, const RunBlock& block) {
  if (::pwrite(parameters.result, &block, sizeof block, 0) != static_cast<ssize_t>(sizeof block)) {
    throw std::runtime_error("the result cannot be written");
  }
}

struct FaultCount {
  std::int64_t faults = 0;  ///< minor and major faults of this process so far
  std::int64_t at_ns = 0;
};

FaultCount count_faults() {
  monotonic_ns();  // the first call takes faults, which must not be counted, so it comes before getrusage
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return {usage.ru_minflt + usage.ru_majflt, monotonic_ns()};
}

/// Number of the array's pages that only this process maps.
std::int64_t exclusive_pages(const Job& job) {
  ProcessPagemaps pagemaps;
  std::int64_t found = 0;
  pagemaps.for_each(::getpid(), job.array.pages(),
                    [&](std::uint64_t, PagemapEntry entry) { found += entry.exclusive() ? 1 : 0; });
  return found;
}

/// Whether a child was forked and has ended.
bool child_has_ended(const Job& job) {
  const pid_t child = job.control->child;
  siginfo_t info{};
  return child != 0 && ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == child;
}

void finish(Alternative& alternative, Job& job, RunMetrics& metrics) {
  alternative.finish(job);
  metrics.gone_ns = monotonic_ns();
  if (job.parameters.pagemap && job.control->child != 0) metrics.exclusive_pages = exclusive_pages(job);
  alternative.after_end(job);
}

/// Starts the writers, takes the snapshot, and joins the writers. If the alternative begins first, the snapshot comes
/// before the writers. Throws the errors of the alternative; in that case, threads may still be paused.
void take_snapshot(Alternative& alternative, Job& job, Writers& writers, RunMetrics& metrics) {
  const double hold = alternative.facts.takes_snapshot ? job.parameters.hold : -1;
  const bool first = alternative.facts.begins_first;
  if (!first) {
    writers.start();
    writers.wait_for_stop();
  }
  const FaultCount before = count_faults();
  metrics.stopped_ns = monotonic_ns();
  alternative.begin(job);
  metrics.released_ns = monotonic_ns();
  if (hold >= 1) {
    finish(alternative, job, metrics);
  } else if (hold > 0) {
    wait_until([&] { return job.control->batches_done >= job.parameters.held_batches() || child_has_ended(job); });
    alternative.held(job);
  }
  if (first) {
    writers.start();
  } else {
    writers.go_on();
  }
  if (hold < 1) finish(alternative, job, metrics);
  writers.join();
  const FaultCount after = count_faults();
  metrics.window_begin_ns = before.at_ns;
  metrics.window_end_ns = after.at_ns;
  metrics.window_faults = after.faults - before.faults;
}

AddressRange array_of(const Facts& facts, std::uint64_t bytes, const SharedMemory& shared) {
  if (facts.shared_array) return shared.range();
  return facts.array_as_allocated ? value_initialised_array(bytes) : private_array(bytes);
}

/// Adds the facts of the alternative, and the metrics that its child left in shared memory.
void add_facts(RunMetrics& metrics, const Alternative& alternative, const Job& job) {
  const Control& control = *job.control;
  metrics.pid = ::getpid();
  metrics.child = control.child;
  metrics.array_begin = static_cast<std::int64_t>(job.array.begin);
  metrics.array_end = static_cast<std::int64_t>(job.array.end);
  metrics.takes_snapshot = alternative.facts.takes_snapshot ? 1 : 0;
  metrics.told_by_sharing = alternative.facts.told_by_sharing ? 1 : 0;
  metrics.complete_ns = control.complete_ns;
  metrics.child_user_ns = control.child_user_ns;
  metrics.child_system_ns = control.child_system_ns;
  metrics.unmapped_batches = static_cast<std::int64_t>(control.unmapped);
  metrics.unmap_error = control.unmap_error;
  metrics.checked_elements = static_cast<std::int64_t>(control.checked);
  metrics.wrong_elements = static_cast<std::int64_t>(control.wrong);
  metrics.first_wrong = static_cast<std::int64_t>(control.first_wrong);
}

void run(Alternative& alternative, const Parameters& parameters) {
  const Facts& facts = alternative.facts;
  static RunBlock block;  // static, so that the block does not come from the tested allocator
  RunMetrics& metrics = block.metrics;
  Job job;
  job.parameters = parameters;
  const SharedMemory control("zerotax-control", sizeof(Control), true);
  job.control = new (pointer_to(control.range())) Control;
  const Placement placement(parameters.placement);
  placement.begin(Placement::Block::kArray);
  SharedMemory shared_array;
  if (facts.shared_array) shared_array = SharedMemory("zerotax-array", parameters.array_bytes, false);
  job.array = array_of(facts, parameters.array_bytes, shared_array);
  placement.bind(Placement::Block::kArray, job.array);
  placement.begin(Placement::Block::kDestination);
  SharedMemory copy;
  AddressRange destination;
  if (facts.destination == Facts::Destination::kShared) {
    copy = SharedMemory("zerotax-snapshot", parameters.array_bytes, true);
    destination = copy.range();
  } else {
    destination = facts.destination == Facts::Destination::kZeroed ? value_initialised_array(parameters.array_bytes)
                                                                   : private_array(parameters.array_bytes);
    metrics.destination_begin = static_cast<std::int64_t>(destination.begin);
    metrics.destination_end = static_cast<std::int64_t>(destination.end);
  }
  placement.end();
  placement.bind(Placement::Block::kDestination, destination);
  job.copy = static_cast<unsigned char*>(pointer_to(destination));
  alternative.prepare(job);
  fill(job);

  Writers writers(job, metrics, !facts.begins_first);
  std::optional<MemorySampler> memory;
  if (parameters.memory) {
    memory.emplace([&] { return job.control->child.load(); },
                   [&] { return copy.populated_bytes() + shared_array.populated_bytes(); },
                   job.control->memory_samples);
  }
  std::optional<CpuSampler> cpu;
  if (parameters.cpu) cpu.emplace([&] { return job.control->child.load(); });
  try {
    take_snapshot(alternative, job, writers, metrics);
  } catch (const std::exception& failure) {
    fail(failure.what());  // not caught further out, because paused writers cannot be joined
  }
  if (memory) memory->finish(metrics);
  if (cpu) cpu->finish(block);
  if (alternative.helper() != nullptr) alternative.helper()->add_to(metrics);
  add_facts(metrics, alternative, job);
  if (!placement.is_default()) add_nodes(metrics, job.array, destination);
  // Only the child sees a private destination, and has verified it (check_unseen).
  if (facts.destination == Facts::Destination::kShared && facts.takes_snapshot)
    verify(job, writers.positions(), metrics);
  block.end = RunBlock::End::kDone;
  write_block(parameters, block);
}

/// Words for Kind, in the order of the enumerators.
constexpr const char* kKindWords[] = {"public", "remedy", "published", "planted"};

int list() {
  std::vector<Registered>& all = all_alternatives();
  std::sort(all.begin(), all.end(),
            [](const Registered& one, const Registered& other) { return one.name < other.name; });
  for (const Registered& entry : all) {
    std::printf("%s\t%s\t%s\t%s\n", entry.name.c_str(), kKindWords[static_cast<int>(entry.kind)],
                entry.of.empty() ? "-" : entry.of.c_str(), entry.summary.c_str());
  }
  return 0;
}

/// Returns null if no alternative has that name.
std::unique_ptr<Alternative> make_alternative(const std::string& name) {
  for (const Registered& entry : all_alternatives()) {
    if (entry.name != name) continue;
    std::unique_ptr<Alternative> made = entry.make();
    made->facts = entry.facts;
    return made;
  }
  return nullptr;
}

int run_words(int count, char** words) {
  const Parameters parameters = parse_parameters(count, words);
  const auto alternative = make_alternative(parameters.alternative);
  if (!alternative) throw std::invalid_argument("no alternative '" + parameters.alternative + "' (--list has them)");
  std::string why_not = alternative->why_not();
  if (why_not.empty()) why_not = Placement(parameters.placement).why_not();
  if (why_not.empty()) {
    run(*alternative, parameters);
    return 0;
  }
  RunBlock block{};
  block.end = RunBlock::End::kSkipped;
  std::snprintf(&block.reason[0], sizeof block.reason, "%s", why_not.c_str());
  write_block(parameters, block);
  return 0;
}

}  // namespace
}  // namespace zerotax::snapshot

int main(int count, char** words) {
  std::set_terminate(zerotax::snapshot::fail_at_once);
  if (count == 2 && std::string(words[1]) == "--list") return zerotax::snapshot::list();
  try {
    return zerotax::snapshot::run_words(count, words);
  } catch (const std::invalid_argument& wrong) {
    std::fprintf(stderr, "fork-snapshot: %s\n", wrong.what());
    return 2;
  } catch (const std::exception& failure) {
    zerotax::snapshot::fail(failure.what());
  }
}
