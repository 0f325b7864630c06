#include "profile/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/units.h"
#include "base/wrap.h"
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
    return fmt::format("\nPage faults: {} by the kernel's account\n", format_count(faults.taken));
  }
  return "\n" +
         wrap(fmt::format("Page faults in user mode, by where they were taken ({} sampled; {} faults in all by the "
                          "kernel's account)",
                          format_count(faults.sampled), format_count(faults.taken)),
              "", "  ") +
         tree_lines(faults.tree, *faults.samples, columns, least);
}

/// What macOS's sample(1) says of a process.
std::string process_lines(const Profile& profile) {
  if (!profile.process) return "";
  const Sampled& process = *profile.process;
  std::string text;
  const auto line = [&](const char* name, const std::string& value) {
    text += wrap(fmt::format("{:<14} {}", std::string(name) + ":", value), "", std::string(15, ' '));
  };
  const auto known = [](const Measured<std::string>& value) { return value.value_or("not known"); };
  line("Process", fmt::format("{} [{}]", known(process.name), process.pid));
  line("Path", known(process.path));
  line("Parent", fmt::format("{} [{}]", known(process.parent_name), process.parent_pid));
  line("Load address", known(process.load_address));
  line("Version", process.build_id ? "build " + *process.build_id : "not known (no build-id)");
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

/// The times that could not be sampled, and how they are counted instead.
std::string method_lines(const SamplingMethod& method) {
  std::string text;
  const auto line = [&](const Measured<std::string>& part, const char* before, const char* behind) {
    if (!part) text += wrap(before + part.why() + behind, "", "  ");
  };
  constexpr const char* kByAccount = "; its amount is by the kernel's own account";
  if (!method.samples_of) {
    line(method.samples_of, "what runs is not sampled: ", kByAccount);
  } else {
    line(method.kernel, "kernel time is not sampled: ", kByAccount);
    if (method.kernel) line(method.kernel_names, "causes of kernel time are not known: ", "");
  }
  if (method.blocked) line(*method.blocked, "blocked threads are not sampled: ", "");
  return text;
}

}  // namespace

std::string profile_text(const Profile& profile, std::size_t columns, double least) {
  std::string text = wrap(fmt::format("{}", fmt::join(profile.command, " ")), "", "  ");
  text += wrap(method_line(profile), "", "  ");
  text += unseen_lines(profile);
  if (profile.process && profile.process->running) text += wrap(runs_on(*profile.process->running), "", "  ");
  text += script_names_lines(profile.script_names) + unread_files_lines();
  text += method_lines(profile.method);
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
    for (const Frame& frame : stack) names.push_back(frame.function + (frame.module == "kernel" ? "_[k]" : ""));
    folded[names] += count * weight;
  }
  return folded;
}

}  // namespace zerotax::profile
