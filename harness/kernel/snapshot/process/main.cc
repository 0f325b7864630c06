// One run of the case fork_snapshot under one alternative: fork-snapshot KEY=VALUE... (parameters.h), or --list. Prints
// its figures as lines KEY=NUMBER, and "status=ok", or "status=skipped" and a reason. cases/fork_snapshot/README.md
// says what each is.
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>

#include "snapshot/process/alternative.h"
#include "snapshot/process/course.h"
#include "snapshot/process/memory.h"
#include "snapshot/process/output.h"
#include "snapshot/process/placement.h"
#include "snapshot/process/verify.h"
#include "snapshot/process/writers.h"

namespace snapshot {
namespace {

void* pointer_to(zerotax::AddressRange range) {
  return reinterpret_cast<void*>(range.begin);  // NOLINT(performance-no-int-to-ptr)
}

/// Says nothing but why, and ends the program: threads stand where they stood.
[[noreturn]] void fail(const std::exception& failure) {
  std::fprintf(stderr, "fork-snapshot: %s\n", failure.what());
  std::fflush(stdout);
  ::_exit(3);
}

/// Ends the process for an exception that cannot reach main: in a thread, or while threads run that nobody can join.
[[noreturn]] void fail_at_once() {
  std::fputs("fork-snapshot: there is too little memory, or no further thread is allowed\n", stderr);
  std::fflush(stdout);
  ::_exit(3);
}

zerotax::AddressRange array_of(const Alternative& alternative, std::uint64_t bytes, const SharedMemory& shared) {
  if (alternative.facts.shared_array) return shared.range();
  return alternative.facts.array_as_allocated ? value_initialised_array(bytes) : private_array(bytes);
}

zerotax::AddressRange private_destination(const Alternative& alternative, std::uint64_t bytes) {
  return alternative.facts.destination == Facts::Destination::kZeroed ? value_initialised_array(bytes)
                                                                      : private_array(bytes);
}

void run(Alternative& alternative, const Parameters& parameters) {
  Job job;
  job.parameters = parameters;
  const SharedMemory control("zerotax-control", sizeof(Control), true);
  job.control = new (pointer_to(control.range())) Control;
  const Placement placement(parameters.placement);
  placement.begin(Placement::Block::kArray);
  SharedMemory shared_array;
  if (alternative.facts.shared_array) shared_array = SharedMemory("zerotax-array", parameters.array_bytes, false);
  job.array = array_of(alternative, parameters.array_bytes, shared_array);
  placement.bind(Placement::Block::kArray, job.array);
  placement.begin(Placement::Block::kDestination);
  SharedMemory copy;
  const bool shared_copy = alternative.facts.destination == Facts::Destination::kShared;
  if (shared_copy) copy = SharedMemory("zerotax-snapshot", parameters.array_bytes, true);
  const zerotax::AddressRange destination =
      shared_copy ? copy.range() : private_destination(alternative, parameters.array_bytes);
  placement.end();
  placement.bind(Placement::Block::kDestination, destination);
  job.copy = static_cast<unsigned char*>(pointer_to(destination));
  alternative.prepare(job);
  fill(job);

  Writers writers(job, !alternative.facts.begins_first);
  std::optional<MemorySampler> sampler;
  if (parameters.memory) {
    sampler.emplace([&] { return job.control->child.load(); },
                    [&] { return copy.populated_bytes() + shared_array.populated_bytes(); },
                    job.control->memory_samples);
  }
  std::optional<CpuSampler> cpu;
  if (parameters.cpu) cpu.emplace([&] { return job.control->child.load(); });
  Course course;
  try {
    course = run_course(alternative, job, writers);
  } catch (const std::exception& failure) {
    fail(failure);  // here, for writers that stand still cannot be joined
  }
  if (sampler) sampler->finish();
  if (cpu) cpu->finish();

  print("array_begin", job.array.begin);
  print("array_end", job.array.end);
  print("pid", std::int64_t{::getpid()});
  print("child", std::int64_t{job.control->child});
  print("complete_ns", job.control->complete_ns);
  print("takes_snapshot", std::int64_t{alternative.facts.takes_snapshot ? 1 : 0});
  if (job.control->child != 0) print_child(*job.control);
  if (!shared_copy) {
    print("destination_begin", destination.begin);
    print("destination_end", destination.end);
  }
  print("told_by_sharing", std::int64_t{alternative.facts.told_by_sharing ? 1 : 0});
  print_course(course);
  print_writers(writers);
  if (alternative.helper() != nullptr) print_helper(*alternative.helper());
  if (sampler) print_memory(*sampler);
  if (cpu) print_cpu(*cpu);
  if (!placement.is_default()) {
    print_nodes("array", nodes_of(job.array));
    print_nodes("destination", nodes_of(destination));
  }
  if (!shared_copy) {
    print_verdict_of_child(*job.control);
  } else if (alternative.facts.takes_snapshot) {
    print_verdict(verify(job, writers.positions()));
  }
  std::printf("status=ok\n");
}

/// Of a Kind, in its order.
constexpr const char* kKindWords[] = {"public", "remedy", "published", "planted"};

int list() {
  for (const Registered& entry : all_alternatives()) {
    std::printf("%s\t%s\t%s\t%s\n", entry.name.c_str(), kKindWords[static_cast<int>(entry.kind)],
                entry.of.empty() ? "-" : entry.of.c_str(), entry.summary.c_str());
  }
  return 0;
}

}  // namespace
}  // namespace snapshot

int main(int count, char** words) {
  std::set_terminate(snapshot::fail_at_once);
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
    std::string why_not = alternative->why_not();
    if (why_not.empty()) why_not = snapshot::Placement(parameters.placement).why_not();
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
