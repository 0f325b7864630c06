#include "profile/document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/units.h"
#include "base/wrap.h"
#include "profile/call_tree.h"
#include "profile/categories.h"
#include "profile/seen.h"

namespace zerotax::profile {
namespace {

Json process_json(const ProfileSubject& subject) {
  if (!subject.process) return not_available("several processes, one after the other");
  const SampledProcess& process = *subject.process;
  const auto text = [](const std::string& value) { return value.empty() ? not_available("not known") : Json(value); };
  return {{"pid", process.pid},
          {"name", text(process.name)},
          {"path", text(process.path)},
          {"parent_pid", process.parent},
          {"parent_name", text(process.parent_name)},
          {"load_address",
           process.load_address != 0 ? Json(fmt::format("{:#x}", process.load_address)) : not_available("not known")},
          {"build_id", text(process.build_id)},
          {"launched", text(process.launched)},
          {"ended", process.ended}};
}

std::string or_unknown(const Json& value) { return value.is_string() ? value.get<std::string>() : "not known"; }

/// What macOS's sample(1) says of a process.
std::string process_lines(const Json& profile) {
  const Json& process = profile.at("process");
  if (is_not_available(process)) return "";
  std::string text;
  const auto line = [&](const char* name, const std::string& value) {
    text += wrap(fmt::format("{:<14} {}", std::string(name) + ":", value), "", std::string(15, ' '));
  };
  line("Process", fmt::format("{} [{}]", or_unknown(process.at("name")), process.at("pid").get<int>()));
  line("Path", or_unknown(process.at("path")));
  line("Parent", fmt::format("{} [{}]", or_unknown(process.at("parent_name")), process.at("parent_pid").get<int>()));
  line("Load address", or_unknown(process.at("load_address")));
  line("Version", process.at("build_id").is_string() ? "build " + process.at("build_id").get<std::string>()
                                                     : "not known (no build-id)");
  line("Launched", or_unknown(process.at("launched")));
  line("Sampled", profile.at("started").get<std::string>());
  line("Code type", "x86-64");
  const Json& kernel = profile.at("environment").contains("kernel") ? profile.at("environment").at("kernel") : Json();
  if (kernel.is_string()) line("Kernel", kernel.get<std::string>());
  line("Tool", "zerotax " + profile.at("zerotax_version").get<std::string>());
  return text;
}

std::string method_line(const Json& profile) {
  const Json& method = profile.at("method");
  const auto total = profile.at("samples").get<std::uint64_t>();
  const double wall_s = profile.at("wall_s").get<double>();
  if (method.at("event") == "wall-clock") {
    const auto looks = method.at("looks").get<std::uint64_t>();
    return fmt::format("{}: {} in {:.3g} s ({:.3g} a second) at every thread, running or blocked",
                       format_counted(total, "sample"), format_counted(looks, "look"), wall_s,
                       static_cast<double>(looks) / std::max(wall_s, 1e-9));
  }
  return fmt::format("{} at {} per second of CPU time; {:.3g} s user, {:.3g} s system, {:.3g} s in all",
                     format_counted(total, "sample"), method.at("hz").get<unsigned>(),
                     profile.at("user_s").get<double>(), profile.at("system_s").get<double>(), wall_s);
}

}  // namespace

Json profile_json(const ProfileSubject& subject, const ProfileData& data, const Json& environment) {
  Json json;
  json["schema"] = "zerotax.profile/1";
  json["zerotax_version"] = ZEROTAX_VERSION;
  json["started"] = subject.started;
  json["environment"] = environment;
  json["command"] = subject.command;
  json["exit_status"] = subject.exit_status;
  json["process"] = process_json(subject);
  json["method"] = {
      {"event", subject.wall ? "wall-clock" : "cpu-clock"},
      {"hz", subject.hz},
      {"samples_of", data.samples_cpus ? "CPUs" : "threads"},
      {"kernel",
       data.sees_kernel ? Json("sampled") : not_available("perf_event_paranoid is above 1, and this is not root")},
      {"kernel_names",
       data.knows_kernel_names ? Json("from /proc/kallsyms") : not_available("/proc/kallsyms hides the addresses")}};
  if (subject.wall) {
    json["method"]["looks"] = data.looks;
    json["method"]["blocked"] = data.refused ? not_available(
                                                   "threads of a process of another user, or one that may "
                                                   "not be traced (kernel.yama.ptrace_scope), are not shown")
                                             : Json("sampled");
  }
  json["wall_s"] = subject.wall_s;
  json["user_s"] = subject.user_s;
  json["system_s"] = subject.system_s;
  json["samples"] = data.samples;
  json["lost"] = data.lost;
  json["lost_share"] = lost_share(data);
  json["unseen"] = unseen_json(subject, data);
  json["script_names"] = data.scripts.json();
  json["categories"] = categories_json(data, subject.wall);
  json["top_of_stack"] = top_json(data);
  json["tree"] = tree_json(data);
  if (data.by_thread) json["threads"] = threads_json(data);
  return json;
}

std::string profile_text(const Json& profile, std::size_t columns, double least) {
  const auto total = profile.at("samples").get<std::uint64_t>();
  const Json& method = profile.at("method");
  std::string text =
      wrap(fmt::format("{}", fmt::join(profile.at("command").get<std::vector<std::string>>(), " ")), "", "  ");
  text += wrap(method_line(profile), "", "  ");
  text += unseen_lines(profile);
  text += script_names_lines(profile);
  for (const char* part : {"kernel", "blocked"}) {
    if (!method.contains(part) || !is_not_available(method.at(part))) continue;
    const char* what = part == std::string("kernel") ? "kernel time is" : "blocked threads are";
    text += wrap(fmt::format("{} not sampled: {}", what, method.at(part).at("na").get<std::string>()), "", "  ");
  }
  if (profile.contains("threads")) text += "\n" + process_lines(profile);
  if (is_mostly_unseen(profile)) return text + "\nno call tree: it would show less than half of the CPU time\n";
  if (total == 0) {
    return text + "\nno samples: the program used too little CPU time (--wall shows threads that wait, too)\n";
  }
  text += "\nTime by activity\n" + category_lines(profile);
  text += "\nCall graph\n" +
          (profile.contains("threads") ? thread_lines(profile, columns, least) : tree_lines(profile, columns, least));
  return text + "\nSort by top of stack\n" + top_lines(profile, columns);
}

FoldedStacks folded_stacks(const ProfileData& data, std::uint64_t weight) {
  FoldedStacks folded;
  for (const auto& [stack, count] : data.stacks) {
    std::vector<std::string> names;
    for (const Frame& frame : stack) names.push_back(frame.function + (frame.module == "kernel" ? "_[k]" : ""));
    folded[names] += count * weight;
  }
  return folded;
}

}  // namespace zerotax::profile
