// One run of the case fork_snapshot under one alternative: fork-snapshot KEY=VALUE... (parameters.h), or --list. Prints
// its figures as lines KEY=NUMBER, and "status=ok", or "status=skipped" and a reason. ../README.md says what each is.
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>

#include "alternative.h"
#include "course.h"
#include "cpu_sampler.h"
#include "memory.h"
#include "memory_sampler.h"
#include "placement.h"
#include "verify.h"
#include "writers.h"

namespace snapshot {
namespace {

void print(const char* key, std::int64_t number) { std::printf("%s=%lld\n", key, static_cast<long long>(number)); }
void print(const char* key, std::uint64_t number) { print(key, static_cast<std::int64_t>(number)); }

void* pointer_to(zerotax::AddressRange range) {
  return reinterpret_cast<void*>(range.begin);  // NOLINT(performance-no-int-to-ptr)
}

/// Says nothing but why, and ends the program: threads stand where they stood.
[[noreturn]] void fail(const std::exception& failure) {
  std::fprintf(stderr, "fork-snapshot: %s\n", failure.what());
  std::fflush(stdout);
  ::_exit(3);
}

void print_course(const Course& course) {
  print("stopped_ns", course.stopped_ns);
  print("released_ns", course.released_ns);
  print("went_on_ns", course.went_on_ns);
  print("gone_ns", course.gone_ns);
  print("remedied_ns", course.remedied_ns);
  print("window_begin_ns", course.before.at_ns);
  print("window_end_ns", course.after.at_ns);
  print("window_faults", course.after.faults - course.before.faults);
  if (course.exclusive_pages) print("exclusive_pages", *course.exclusive_pages);
}

void print_writers(const Writers& writers) {
  print("begin_ns", writers.begin_ns());
  print("end_ns", writers.end_ns());
  print("writers_user_ns", writers.user_ns());
  print("writers_system_ns", writers.system_ns());
  print("resumed_user_ns", writers.resumed().user_ns);
  print("resumed_system_ns", writers.resumed().kernel_ns);
  print("resumed_faults", writers.resumed().minor_faults);
}

void print_helper(const Helper& helper) {
  print("helper_tid", std::int64_t{helper.tid()});
  print("helper_begin_ns", helper.begin_ns());
  print("helper_end_ns", helper.end_ns());
  print("helper_user_ns", helper.usage().user_ns);
  print("helper_system_ns", helper.usage().kernel_ns);
  print("helper_faults", helper.usage().minor_faults);
  print("helper_failed_bytes", helper.failed_bytes());
}

void print_memory(const MemorySampler& sampler) {
  print("first_bytes", sampler.first_bytes());
  print("peak_bytes", sampler.peak_bytes());
  print("memory_samples", sampler.samples());
}

/// A line for each: its time, user and system time of this process, and the child's.
void print_cpu(const CpuSampler& sampler) {
  constexpr std::size_t kMost = 200;
  for (const CpuSample& sample : sampler.samples(kMost)) {
    std::printf("cpu=%lld %lld %lld %lld %lld\n", static_cast<long long>(sample.at_ns),
                static_cast<long long>(sample.user_ns), static_cast<long long>(sample.system_ns),
                static_cast<long long>(sample.child_user_ns), static_cast<long long>(sample.child_system_ns));
  }
}

void print_nodes(const char* what, const PageNodes& nodes) {
  print((std::string(what) + "_pages_seen").c_str(), nodes.looked_at);
  print((std::string(what) + "_on_first").c_str(), nodes.on_first);
  print((std::string(what) + "_on_second").c_str(), nodes.on_second);
}

void print_verdict(const Verdict& verdict) {
  print("checked_elements", verdict.checked);
  print("wrong_elements", verdict.wrong);
  print("first_wrong", verdict.first_wrong);
}

/// What the child found, where only the child can see the snapshot, and looked at it.
void print_verdict_of_child(const Control& control) {
  if (control.checked > 0) print_verdict({control.checked, control.wrong, control.first_wrong});
}

void print_child(const Control& control) {
  print("child_user_ns", control.child_user_ns);
  print("child_system_ns", control.child_system_ns);
  if (control.unmapped == 0 && control.unmap_error == 0) return;
  print("unmapped_batches", control.unmapped.load());
  print("unmap_error", std::int64_t{control.unmap_error});
}

zerotax::AddressRange array_of(const Alternative& alternative, std::uint64_t bytes, const SharedMemory& shared) {
  if (alternative.wants_shared_array()) return shared.range();
  return alternative.wants_array_as_allocated() ? value_initialised_array(bytes) : private_array(bytes);
}

zerotax::AddressRange private_destination(const Alternative& alternative, std::uint64_t bytes) {
  return alternative.destination() == Alternative::Destination::kZeroed ? value_initialised_array(bytes)
                                                                        : private_array(bytes);
}

void run(Alternative& alternative, const Parameters& parameters) {
  Job job;
  job.parameters = parameters;
  const SharedMemory control("zerotax-control", sizeof(Control), true);
  job.control = new (pointer_to(control.range())) Control;
  const Placement placement(parameters.placement);
  placement.begin_array();
  SharedMemory shared_array;
  if (alternative.wants_shared_array()) shared_array = SharedMemory("zerotax-array", parameters.array_bytes, false);
  job.array = array_of(alternative, parameters.array_bytes, shared_array);
  placement.bind_array(job.array);
  placement.begin_destination();
  SharedMemory copy;
  const bool shared_copy = alternative.destination() == Alternative::Destination::kShared;
  if (shared_copy) copy = SharedMemory("zerotax-snapshot", parameters.array_bytes, true);
  const zerotax::AddressRange destination =
      shared_copy ? copy.range() : private_destination(alternative, parameters.array_bytes);
  placement.end();
  placement.bind_destination(destination);
  job.copy = static_cast<unsigned char*>(pointer_to(destination));
  alternative.prepare(job);
  fill(job);

  Writers writers(job, !alternative.begins_first());
  std::optional<MemorySampler> sampler;
  if (parameters.memory) {
    sampler.emplace([&] { return job.control->child.load(); },
                    [&] { return copy.populated_bytes() + shared_array.populated_bytes(); });
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
  print("takes_snapshot", std::int64_t{alternative.takes_snapshot() ? 1 : 0});
  if (job.control->child != 0) print_child(*job.control);
  if (!shared_copy) {
    print("destination_begin", destination.begin);
    print("destination_end", destination.end);
  }
  print("told_by_sharing", std::int64_t{alternative.told_by_sharing() ? 1 : 0});
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
  } else if (alternative.takes_snapshot()) {
    print_verdict(verify(job, writers.positions()));
  }
  std::printf("status=ok\n");
}

const char* word_of(Registration::Kind kind) {
  switch (kind) {
    case Registration::Kind::kPublic:
      return "public";
    case Registration::Kind::kRemedy:
      return "remedy";
    case Registration::Kind::kPublished:
      return "published";
    case Registration::Kind::kPlanted:
      break;
  }
  return "planted";
}

int list() {
  for (const Registered& entry : all_alternatives()) {
    std::printf("%s\t%s\t%s\t%s\n", entry.name.c_str(), word_of(entry.kind), entry.of.empty() ? "-" : entry.of.c_str(),
                entry.summary.c_str());
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
