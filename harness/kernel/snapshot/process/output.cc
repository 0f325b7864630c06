#include "snapshot/process/output.h"

#include <cstdio>
#include <string>

namespace snapshot {

void print(const char* key, std::int64_t number) { std::printf("%s=%lld\n", key, static_cast<long long>(number)); }
void print(const char* key, std::uint64_t number) { print(key, static_cast<std::int64_t>(number)); }

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
  print("helper_bulk_faults", helper.bulk_faults());
  print("helper_failed_bytes", helper.failed_bytes());
}

void print_memory(const MemorySampler& sampler) {
  print("first_bytes", sampler.first_bytes());
  print("peak_bytes", sampler.peak_bytes());
  print("memory_samples", sampler.samples());
}

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

}  // namespace snapshot
