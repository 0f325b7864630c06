#include "profile/seen.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "base/wrap.h"

namespace zerotax::profile {
namespace {

/// Fewer samples than these are expected by chance alone to be half as many.
constexpr double kLeastExpected = 30;
constexpr double kWorthSaying = 0.1;
constexpr double kMost = 0.5;

std::string why_unseen(const ProfileSubject& subject, const ProfileData& data) {
  std::string why;
  const auto add = [&](const std::string& reason) { why += (why.empty() ? "" : "; ") + reason; };
  if (!data.sees_kernel) add(fmt::format("its {:.3g} s in the kernel may not be sampled", subject.system_s));
  if (!data.samples_cpus) {
    add(fmt::format("a process or thread that uses less than {} of CPU time may get no sample",
                    format_ns(1e9 / subject.hz)));
  }
  if (data.lost > 0) add(format_counted(data.lost, "event") + " were lost");
  return why.empty()
             ? "the clock that samples stands still while interrupts are disabled, or while a hypervisor has the CPU"
             : why;
}

std::string remedy_of(const ProfileData& data) {
  if (!data.samples_cpus) return "run it as root, which samples each CPU, whatever runs there";
  return data.lost > 0 ? "use a lower --hz" : "repeat it on an idle machine, or one that is not virtual";
}

}  // namespace

Json unseen_json(const ProfileSubject& subject, const ProfileData& data) {
  if (subject.wall) return not_available("each thread was looked at, whether it used CPU time or not");
  const double cpu_s = subject.user_s + subject.system_s;
  if (cpu_s * subject.hz < kLeastExpected) return not_available("too little CPU time was used to tell");
  const double seen_s = static_cast<double>(data.samples) / subject.hz;
  const double share = std::clamp(1 - seen_s / cpu_s, 0.0, 1.0);
  return {{"share", share},
          {"cpu_s", cpu_s},
          {"seen_s", seen_s},
          {"why", share > kWorthSaying ? Json(why_unseen(subject, data)) : not_available("nearly all of it was seen")},
          {"remedy", share > kWorthSaying ? Json(remedy_of(data)) : not_available("nearly all of it was seen")}};
}

double lost_share(const ProfileData& data) {
  const auto all = static_cast<double>(data.lost + data.samples);
  return all > 0 ? static_cast<double>(data.lost) / all : 0;
}

bool is_mostly_unseen(const Json& profile) {
  const Json& unseen = profile.at("unseen");
  return !is_not_available(unseen) && unseen.at("share").get<double>() > kMost;
}

std::string unseen_lines(const Json& profile) {
  std::string text;
  const Json& unseen = profile.at("unseen");
  if (!is_not_available(unseen) && unseen.at("share").get<double>() > kWorthSaying) {
    text += wrap(fmt::format("not seen: {} of its CPU time ({:.3g} of {:.3g} s seen): {}. To see it, {}.",
                             format_percent(unseen.at("share").get<double>()), unseen.at("seen_s").get<double>(),
                             unseen.at("cpu_s").get<double>(), unseen.at("why").get<std::string>(),
                             unseen.at("remedy").get<std::string>()),
                 "", "  ");
  }
  const auto lost = profile.at("lost").get<std::uint64_t>();
  if (lost > 0) {
    text += wrap(fmt::format("lost: {}, up to {} of all, because they were not read in time: what ran then is missing "
                             "below. Use a lower --hz, or leave a CPU free.",
                             format_counted(lost, "event"), format_percent(profile.at("lost_share").get<double>())),
                 "", "  ");
  }
  return text;
}

}  // namespace zerotax::profile
