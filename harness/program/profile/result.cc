#include "profile/result.h"

#include <fmt/format.h>

#include "profile/call_tree.h"
#include "profile/categories.h"
#include "profile/unseen.h"

namespace zerotax::profile {
namespace {

Measured<std::string> known(const std::string& text) { return known_if(!text.empty(), text, "not known"); }

Measured<Sampled> sampled_process(const ProfileSubject& subject) {
  if (!subject.process) return NotAvailable{"several processes, one after the other"};
  const SampledProcess& process = *subject.process;
  const std::string address = process.load_address != 0 ? fmt::format("{:#x}", process.load_address) : "";
  Sampled sampled{
      process.pid,    known(process.name),     known(process.path),     process.parent, known(process.parent_name),
      known(address), known(process.build_id), known(process.launched), process.ended,  {}};
  if (!process.running.empty()) sampled.running = process.running;
  return sampled;
}

SamplingMethod method_of(const ProfileSubject& subject, const ProfileData& data) {
  SamplingMethod method{subject.wall ? "wall-clock" : "cpu-clock", subject.hz, {}, {}, {}, {}, {}};
  const std::string sampled = "sampled";
  method.samples_of = known_if<std::string>(data.denied.empty(), data.samples_cpus ? "CPUs" : "threads", data.denied);
  method.kernel = known_if(
      data.sees_kernel, sampled,
      data.denied.empty() ? "perf_event_paranoid is above 1, and this is not root" : "nothing could be sampled");
  method.kernel_names =
      known_if<std::string>(data.knows_kernel_names, "from /proc/kallsyms", "/proc/kallsyms hides the addresses");
  if (!subject.wall) return method;
  method.looks = data.looks;
  method.blocked = known_if(!data.refused, sampled,
                            "threads of other users' processes, and of processes that may not be traced "
                            "(kernel.yama.ptrace_scope), are not shown");
  return method;
}

/// Returns the functions that took page faults. If no fault was sampled, the result is n/a.
PageFaults page_faults_of(const ProfileSubject& subject, const ProfileData& data) {
  PageFaults faults;
  faults.taken = subject.faults;
  if (!data.sees_faults) {
    faults.samples = NotAvailable{!data.denied.empty() ? "nothing could be sampled"
                                  : data.sees_kernel   ? "the samples of the kernel include page faults"
                                                       : "page faults could not be sampled"};
    return faults;
  }
  std::uint64_t sum = 0;
  for (const auto& [stack, count] : data.faults) sum += count;
  faults.samples = sum;
  faults.sampled = data.fault_samples;
  faults.tree = call_tree(data.faults);
  return faults;
}

}  // namespace

Profile profile_result(const ProfileSubject& subject, const ProfileData& data, Json environment) {
  Profile profile;
  profile.schema = "zerotax.profile/1";
  profile.zerotax_version = ZEROTAX_VERSION;
  profile.started = subject.started;
  profile.environment = std::move(environment);
  profile.command = subject.command;
  profile.exit_status = subject.exit_status;
  profile.process = sampled_process(subject);
  profile.method = method_of(subject, data);
  profile.wall_s = subject.wall_s;
  profile.user_s = subject.user_s;
  profile.system_s = subject.system_s;
  profile.samples = data.samples;
  profile.accounted = data.accounted;
  profile.lost = data.lost;
  profile.lost_share = lost_share(data);
  profile.unseen = unseen_of(subject, data);
  profile.script_names = data.scripts.list();
  profile.categories = categories_of(data, subject.wall);
  profile.top_of_stack = top_of_stack(data);
  profile.tree = call_tree(data.stacks);
  profile.page_faults = page_faults_of(subject, data);
  if (data.by_thread) profile.threads = thread_trees(data);
  return profile;
}

Json profile_json(const Profile& profile) { return profile; }

}  // namespace zerotax::profile
