#include "profile/unseen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/units.h"

namespace zerotax::profile {
namespace {

/// Smallest expected number of samples. With fewer samples expected, chance alone might halve their number.
constexpr double kLeastExpected = 30;
/// Smallest expected number of samples in user mode. This minimum is larger, because the kernel accounts for user mode
/// in steps of 10 ms.
constexpr double kLeastOfUserMode = 100;
constexpr double kWorthSaying = 0.1;
constexpr double kMost = 0.5;
/// If the sampled time exceeds this multiple of the accounted time, plus kSlackS, the accounting lacks some processes.
constexpr double kMostOfAccount = 1.2;
constexpr double kSlackS = 0.1;
constexpr const char* kShort = "the kernel's accounting lacks processes that no process waited for (daemons)";

std::string why_unseen(const ProfileSubject& subject, const ProfileData& data) {
  std::string why;
  const auto add = [&](const std::string& reason) { why += (why.empty() ? "" : "; ") + reason; };
  if (!data.denied.empty()) return data.denied;
  if (!data.sees_kernel) add(fmt::format("{:.3g} s in the kernel may not be sampled", subject.system_s));
  if (!data.samples_cpus) {
    add(fmt::format("a process or thread that uses less than {} of CPU time may get no sample",
                    format_ns(1e9 / subject.hz)));
  }
  if (data.rights_changed != 0 && !data.samples_cpus) {
    add("the kernel ends the sampling of a program that gains other rights when it starts");
  }
  if (data.lost > 0) add(format_counted(data.lost, "event") + " were lost");
  return why.empty() ? "the sampling clock stops while interrupts are disabled, or while a hypervisor has the CPU"
                     : why;
}

std::string remedy_of(const ProfileData& data) {
  if (!data.denied.empty()) return "remove the obstacle that the reason names";
  if (!data.samples_cpus) return "run zerotax as root, which samples each CPU, whatever runs there";
  return data.lost > 0 ? "use a lower --hz" : "repeat the run on an idle machine, or on one that is not virtual";
}

/// Returns the unseen share of user time. The share is known only if the kernel could not be sampled, because then all
/// samples are in user mode.
Measured<double> user_share(const ProfileSubject& subject, const ProfileData& data, double seen_s) {
  if (data.sees_kernel) return NotAvailable{"the kernel was sampled, too"};
  if (!data.denied.empty()) return NotAvailable{"nothing could be sampled"};
  if (subject.user_s * subject.hz < kLeastOfUserMode) return NotAvailable{"too little CPU time in user mode to tell"};
  return std::clamp(1 - seen_s / subject.user_s, 0.0, 1.0);
}

/// Returns the unseen share of the time that may be sampled; n/a if that time is too short for an estimate.
Measured<double> missing_share(const Profile& profile) {
  if (!profile.unseen) return NotAvailable{profile.unseen.why()};
  return profile.method.kernel || is_denied(profile) ? Measured<double>(profile.unseen->share)
                                                     : profile.unseen->user_share;
}

constexpr const char* kEnded = "(threads that ended)";

bool stands_for_kernel(const Stack& stack) {
  return stack.back().module == "kernel" && stack.back().function == kKernelNotSampled;
}

}  // namespace

bool is_denied(const Profile& profile) { return !profile.method.samples_of; }

Measured<Unseen> unseen_of(const ProfileSubject& subject, const ProfileData& data) {
  if (subject.wall) return NotAvailable{"each thread was sampled, whether it used CPU time or not"};
  const double cpu_s = subject.user_s + subject.system_s;
  const double seen_s = static_cast<double>(data.samples - data.accounted) / subject.hz;
  if (seen_s > kMostOfAccount * cpu_s + kSlackS) return NotAvailable{kShort};
  if (cpu_s * subject.hz < kLeastExpected) return NotAvailable{"too little CPU time was used to tell"};
  const double share = std::clamp(1 - seen_s / cpu_s, 0.0, 1.0);
  const NotAvailable nearly_all{"nearly all CPU time was sampled"};
  Unseen unseen{share, cpu_s, seen_s, user_share(subject, data, seen_s), nearly_all, nearly_all};
  if (share > kWorthSaying) {
    unseen.why = why_unseen(subject, data);
    unseen.remedy = remedy_of(data);
  }
  return unseen;
}

bool is_account_short(const Profile& profile) { return profile.unseen.why() == kShort; }

double lost_share(const ProfileData& data) {
  const auto all = static_cast<double>(data.lost + data.samples);
  return all > 0 ? static_cast<double>(data.lost) / all : 0;
}

bool is_mostly_unseen(const Profile& profile) { return missing_share(profile).value_or(0) > kMost; }

std::vector<std::string> unseen_warnings(const Profile& profile) {
  std::vector<std::string> all;
  const double share = missing_share(profile).value_or(0);
  // If sampling was denied, the warnings about the method suffice.
  if (share > kWorthSaying && !is_denied(profile)) {
    const Unseen& unseen = *profile.unseen;
    const bool is_all = share == unseen.share;
    all.push_back(fmt::format("{} of its {} was not sampled ({:.3g} of {:.3g} s was): {}. To see it, {}.",
                              format_percent(share), is_all ? "CPU time" : "time in user mode", unseen.seen_s,
                              is_all ? unseen.cpu_s : profile.user_s, unseen.why.value_or(""),
                              unseen.remedy.value_or("")));
  }
  if (is_account_short(profile)) {
    all.push_back(fmt::format("Times are lower bounds, because {}.", kShort));
  }
  if (profile.lost > 0) {
    all.push_back(fmt::format(
        "{} lost, up to {} of all, and the time that they stand for is missing. Use a lower --hz, or leave a CPU free.",
        format_counted(profile.lost, "event was", "events were"), format_percent(profile.lost_share)));
  }
  return all;
}

void account_rest(ProfileData& data, double system_s, unsigned hz) {
  if (data.sees_kernel) return;
  std::uint64_t known = 0;
  for (const auto& [stack, count] : data.stacks) known += stands_for_kernel(stack) ? count : 0;
  const auto all = static_cast<std::uint64_t>(std::llround(system_s * hz));
  if (all <= known) return;
  const std::uint64_t rest = all - known;
  const std::string program = data.stacks.empty() ? kEnded : data.stacks.begin()->first.front().function;
  data.stacks[{{program, ""}, {kKernelNotSampled, "kernel"}}] += rest;
  data.samples += rest;
  data.accounted += rest;
  if (!data.by_thread) return;
  // If the process had several threads, the thread that used the time is unknown.
  const bool one = data.threads.size() == 1;
  const std::uint32_t process = data.threads.empty() ? 0 : data.threads.begin()->first.first;
  ThreadProfile& thread = one ? data.threads.begin()->second : data.threads[{process, 0}];
  if (thread.name.empty()) thread.name = kEnded;
  thread.samples += rest;
  thread.stacks[{{kKernelNotSampled, "kernel"}}] += rest;
}

}  // namespace zerotax::profile
