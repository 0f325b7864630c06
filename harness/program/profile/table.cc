#include "profile/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/lines.h"
#include "base/units.h"
#include "observe/file_reader.h"
#include "observe/running_process.h"
#include "os/processor.h"
#include "profile/call_tree.h"
#include "profile/categories.h"
#include "profile/unseen.h"

namespace zerotax::profile {
namespace {

std::string fault_lines(const Profile& profile, std::size_t columns, double least) {
  const PageFaults& faults = profile.page_faults;
  if (!faults.samples) {
    if (profile.method.kernel) return "";
    return fmt::format("\nPage faults: {}, as the kernel accounts them\n", format_count(faults.taken));
  }
  return "\n" +
         wrap(fmt::format(
                  "Page faults in user mode, by the place that took them ({} sampled; {} faults in all, as the kernel "
                  "accounts them)",
                  format_count(faults.sampled), format_count(faults.taken)),
              "", "  ") +
         tree_lines(faults.tree, *faults.samples, columns, least);
}

/// Formats the properties of the process like sample(1) of macOS.
std::string process_lines(const Profile& profile) {
  if (!profile.process) return "";
  const Sampled& process = *profile.process;
  std::string text;
  const auto line = [&](const char* name, const std::string& value) {
    text += wrap(fmt::format("{:<14} {}", std::string(name) + ":", value), "", std::string(15, ' '));
  };
  const auto known = [](const Measured<std::string>& value) { return value.value_or("unknown"); };
  line("Process", fmt::format("{} [{}]", known(process.name), process.pid));
  line("Path", known(process.path));
  line("Parent", fmt::format("{} [{}]", known(process.parent_name), process.parent_pid));
  line("Load address", known(process.load_address));
  line("Version", process.build_id ? "build " + *process.build_id : "unknown (no build-id)");
  line("Launched", known(process.launched));
  line("Sampled", profile.started);
  line("Code type", kProcessorName);
  if (const std::string kernel = text_field(profile.environment, "kernel", ""); !kernel.empty()) line("Kernel", kernel);
  line("Tool", "zerotax " + profile.zerotax_version);
  return text;
}

std::string method_line(const Profile& profile) {
  if (const auto& looks = profile.method.looks) {
    return fmt::format("{}: {} in {:.3g} s ({:.3g} a second) at every thread, running or blocked",
                       format_counted(profile.samples, "sample"), format_counted(*looks, "look"), profile.wall_s,
                       static_cast<double>(*looks) / std::max(profile.wall_s, 1e-9));
  }
  return fmt::format("{} at {} per second of CPU time; {}{:.3g} s user, {:.3g} s system, {:.3g} s in all",
                     format_counted(profile.samples, "sample"), profile.method.hz,
                     is_account_short(profile) ? "at least " : "", profile.user_s, profile.system_s, profile.wall_s);
}

/// Adds warnings about CPU time that was not sampled, and whose amount is from the kernel's accounting.
void add_method(const SamplingMethod& method, std::vector<std::string>& all) {
  constexpr const char* kByAccount = " The amount is from the kernel's accounting.";
  if (!method.samples_of) {
    all.push_back(fmt::format("Nothing was sampled ({}).{}", method.samples_of.why(), kByAccount));
  } else if (!method.kernel) {
    all.push_back(fmt::format("Kernel time was not sampled ({}).{}", method.kernel.why(), kByAccount));
  } else if (!method.kernel_names) {
    all.push_back(fmt::format("The causes of kernel time are unknown ({}).", method.kernel_names.why()));
  }
  if (method.blocked && !*method.blocked) {
    all.push_back(fmt::format("Blocked threads were not sampled: {}.", method.blocked->why()));
  }
}

void add_exit(int status, std::vector<std::string>& all) {
  constexpr int kSignalled = 128;
  if (status > kSignalled) {
    all.push_back(fmt::format("The program was killed by signal {}.", status - kSignalled));
  } else if (status != 0) {
    all.push_back(fmt::format("The program ended with exit status {}.", status));
  }
}

}  // namespace

std::vector<std::string> warnings(const Profile& profile) {
  std::vector<std::string> all;
  add_exit(profile.exit_status, all);
  for (std::string& each : unseen_warnings(profile)) all.push_back(std::move(each));
  add_method(profile.method, all);
  if (profile.process && profile.process->running) all.push_back(runs_on(*profile.process->running));
  for (std::string& each : script_names_warnings(profile.script_names)) all.push_back(std::move(each));
  for (std::string& each : unread_files()) all.push_back(std::move(each));
  return all;
}

std::string profile_text(const Profile& profile, std::size_t columns, double least) {
  std::string text = wrap(fmt::format("{}", fmt::join(profile.command, " ")), "", "  ");
  text += wrap(method_line(profile), "", "  ");
  for (const std::string& each : warnings(profile)) text += wrap(each, "! ", "  ");
  if (profile.threads) text += "\n" + process_lines(profile);
  if (is_mostly_unseen(profile)) {
    if (is_denied(profile))
      text += "\nTime by activity\n" + category_lines(profile) + fault_lines(profile, columns, least);
    return text + "\nno call tree: it would show less than half of the CPU time\n";
  }
  if (profile.samples == 0) {
    return text + "\nno samples: the program used too little CPU time (--wall shows threads that wait, too)\n";
  }
  text += "\nTime by activity\n" + category_lines(profile);
  text += "\nCall graph\n" + (profile.threads ? thread_lines(profile, columns, least)
                                              : tree_lines(profile.tree, profile.samples, columns, least));
  return text + "\nSort by top of stack\n" + top_lines(profile, columns) + fault_lines(profile, columns, least);
}

FoldedStacks folded_stacks(const ProfileData& data, std::uint64_t weight) {
  FoldedStacks folded;
  for (const auto& [stack, count] : data.stacks) {
    std::vector<std::string> names;
    for (const Frame& frame : stack) names.push_back(frame.label() + (frame.module == "kernel" ? "_[k]" : ""));
    folded[names] += count * weight;
  }
  return folded;
}

}  // namespace zerotax::profile
