#include "base/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/lines.h"
#include "base/names.h"
#include "base/shell.h"
#include "base/units.h"
#include "cow/result.h"
#include "observe/file_reader.h"
#include "observe/running_process.h"

namespace zerotax::cow {
namespace {

constexpr double kShown = 0.01;  // smallest share of all copies for which a process has a row of its own
constexpr std::size_t kLongestName = 36;
constexpr std::size_t kMostProcesses = 8;

std::string subject_of(const Cow& cow) {
  if (cow.command.empty()) return fmt::format("Process {}", cow.pid);
  return first_characters(file_name(cow.command.front()), kLongestName);
}

std::string headline(const Cow& cow) {
  const Totals& totals = cow.totals;
  std::string text = fmt::format("{}: {}", subject_of(cow), cow.sentence.value_or(copied_text(cow) + "."));
  text += fmt::format(" Also {} reused and {} zero-filled.", format_counted(totals.reuses, "page"),
                      format_count(totals.zero_fills));
  if (totals.copy_ns && totals.copies != 0) {
    text +=
        fmt::format(" The copies took {}, with the time of tracing.", format_ns(static_cast<double>(*totals.copy_ns)));
  }
  if (const std::string words = forks_text(cow); !words.empty()) text += " " + words;
  return text + fmt::format(" The recording lasted {}.", format_ns(cow.wall_s * 1e9));
}

/// Returns how certain the counts are, and what they leave out. cow_warnings() describes samples and lost events.
std::string certainty(const Cow& cow) {
  std::string text;
  if (cow.method == Method::kSoftware) {
    text = "Only faults in user mode were seen; their class follows from the processes that share each page.";
  } else if (!cow.sampling && cow.totals.lost == 0) {
    text = "Every fault was recorded, so the counts are exact.";
  }
  if (misses_copies_in_fork(cow)) {
    text += std::string(text.empty() ? "" : " ") + "Not counted: pages that fork itself copies for a device.";
  }
  return text;
}

/// The processes with the most copied pages first, or with the most zero-fills first if nothing was copied.
Table processes(const Cow& cow) {
  const auto weight = [&](const Counts& counts) { return cow.totals.copies != 0 ? counts.copies : counts.zero_fills; };
  std::vector<const Process*> order;
  std::uint64_t all = 0;
  for (const Process& process : cow.processes) {
    order.push_back(&process);
    all += weight(process.counts);
  }
  std::stable_sort(order.begin(), order.end(), [&](auto* a, auto* b) { return weight(a->counts) > weight(b->counts); });
  Table table({{"process", Unit::kText, 32},
               {"copies", Unit::kCount, 9},
               {"copied", Unit::kBytes, 10},
               {"reuses", Unit::kCount, 9},
               {"zero-fills", Unit::kCount, 11}});
  const auto add = [&](const std::string& name, const Counts& counts) {
    table.add(
        {first_characters(name, kLongestName), counts.copies, counts.copied_bytes, counts.reuses, counts.zero_fills});
  };
  Counts others;
  std::size_t shown = 0;
  for (const Process* process : order) {
    const Counts& counts = process->counts;
    const bool is_last = shown + 1 == order.size();  // a single remaining process gets its own row instead of a row
                                                     // that counts the rest
    const bool is_large = static_cast<double>(weight(counts)) >= kShown * static_cast<double>(all);
    if (shown < kMostProcesses && (is_last || (is_large && weight(counts) != 0))) {
      ++shown;
      add(fmt::format("{} {} {}", process->parent != 0 ? "child" : "parent", process->pid, process->name), counts);
      continue;
    }
    others.copies += counts.copies;
    others.copied_bytes += counts.copied_bytes;
    others.reuses += counts.reuses;
    others.zero_fills += counts.zero_fills;
  }
  if (shown < order.size()) add(format_counted(order.size() - shown, "other process", "other processes"), others);
  return table;
}

/// The mapping and the function with the most copies.
std::string where(const Cow& cow) {
  if (cow.totals.copies == 0) return "";
  const Mapping* mapping = nullptr;
  const Process* owner = nullptr;
  for (const Process& process : cow.processes) {
    for (const Mapping& each : process.mappings) {
      if (mapping != nullptr && each.counts.copies <= mapping->counts.copies) continue;
      mapping = &each;
      owner = &process;
    }
  }
  if (mapping == nullptr || mapping->counts.copies == 0) return "";
  std::string text = fmt::format("{} of the copies were in {} of process {}", format_count(mapping->counts.copies),
                                 mapping_label(*mapping), owner->pid);
  const auto code = std::max_element(cow.code.begin(), cow.code.end(),
                                     [](const Code& a, const Code& b) { return a.counts.copies < b.counts.copies; });
  if (code == cow.code.end() || code->counts.copies == 0) return text + ".";
  return text + fmt::format("; {} {} made {}.", code->after ? "code" : "the function", code_label(*code),
                            format_count(code->counts.copies));
}

}  // namespace

std::vector<Answer::Step> cow_steps(const Cow& cow) {
  std::vector<Answer::Step> all;
  const std::string next = next_step(cow);
  if (!next.empty() && !cow.command.empty() && is_copied_by_runtime(cow)) {
    all.push_back(
        {"zerotax advise --goal shared -- " + shell_text(cow.command), "find a remedy that keeps memory shared:"});
  }
  if (const std::string advice = copies_advice(cow); !advice.empty()) add_alternative(all, {"", advice});
  if (!next.empty()) {
    add_alternative(all, {next, all.empty() ? "" : "compare other ways to take a snapshot:"});
  }
  return all;
}

Answer cow_answer(const Cow& cow) {
  Answer answer;
  answer.headline = headline(cow);
  if (cow.processes.size() > 1) answer.table = processes(cow);
  answer.where = where(cow);
  for (const std::string& sentence : {writers_sentence(cow), sharing_sentence(cow)}) {
    if (!sentence.empty()) answer.where += (answer.where.empty() ? "" : " ") + sentence;
  }
  answer.steps = cow_steps(cow);
  answer.warnings = cow_warnings(cow);
  answer.legend = certainty(cow);
  answer.more = "All processes, mappings and functions";
  return answer;
}

}  // namespace zerotax::cow
