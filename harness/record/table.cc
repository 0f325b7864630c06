#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/names.h"
#include "base/shell.h"
#include "base/size.h"
#include "base/units.h"
#include "base/wrap.h"
#include "observe/interpreter.h"
#include "observe/symbols.h"
#include "record/document.h"
#include "record/figure_text.h"
#include "record/sites.h"
#include "record/tax_table.h"

namespace zerotax::record {
namespace {

constexpr std::size_t kTopSites = 10;
constexpr std::size_t kTopProcesses = 10;
constexpr std::size_t kTopThreads = 5;
constexpr std::size_t kCallers = 2;  // shown below a site

std::string zero_words(const Json& figures) {
  return fmt::format("{:>12} {:>12} {:>12} {:>12}", about_text(figures.at("zeroed_bytes")),
                     about_text(figures.at("redundant_zeroed_bytes")), ns_text(figures.at("zero_ns")),
                     count_text(figures.at("zero_faults")));
}

std::string totals(const Json& record) {
  const Json& sum = record.at("totals");
  const Json& by_hand = sum.at("by_hand");
  std::string text = fmt::format("\n{:<14} {:>12} {:>12}\n", "called", "calls", "requested");
  text += fmt::format("{:<14} {:>12} {:>12}\n", "calloc", count_text(sum.at("calloc_calls")),
                      about_text(sum.at("requested_bytes")));
  text += fmt::format("{:<14} {:>12} {:>12}\n", "malloc", count_text(sum.at("malloc_calls")),
                      about_text(sum.at("malloc_bytes")));
  text += fmt::format("{:<14} {:>12} {:>12}\n", "realloc", count_text(sum.at("realloc_calls")),
                      about_text(sum.at("realloc_bytes")));
  text += fmt::format("{:<14} {:>12}\n", "free", count_text(sum.at("free_calls")));
  text += fmt::format("\n{:<14} {:>10} {:>12} {:>12} {:>12} {:>12}\n", "zeroed by", "stores", "bytes", "redundant",
                      "time", "faults");
  text += fmt::format("{:<14} {:>10} {}\n", "the allocator", count_text(sum.at("zeroing_stores")), zero_words(sum));
  text +=
      fmt::format("{:<14} {:>10} {}\n", "malloc+memset", count_text(by_hand.at("zeroing_stores")), zero_words(by_hand));
  return text;
}

std::string remarks(const Json& record) {
  const Json& sum = record.at("totals");
  std::string text = "\n";
  const std::string large = format_size(record.at("rule").at("large_bytes"));
  if (sum.at("share_of_wall").is_number() && sum.at("share_of_cpu").is_number()) {
    text +=
        wrap(fmt::format("Stores of zeros of {} and more took {} of the program's CPU time, faults in them included, "
                         "and up to {} of the run's wall time on one thread. Smaller ones are counted, but not "
                         "timed.",
                         large, percent_text(sum.at("share_of_cpu")), percent_text(sum.at("share_of_wall"))),
             "", "");
  } else {
    const Json& why = sum.at(sum.at("share_of_wall").is_number() ? "share_of_cpu" : "share_of_wall");
    text += wrap(fmt::format("The share of stores of zeros is unknown: {}.", why.at("na").get<std::string>()), "", "");
  }
  const Json& samples = sum.at("small_samples");
  const auto sampled = samples.at("bytes").get<double>();
  if (sampled > 0) {
    text += wrap(
        fmt::format("{} {} examined: {:.0f} % of the bytes were redundant.",
                    format_counted(samples.at("stores"), "smaller store"), samples.at("stores") == 1 ? "was" : "were",
                    100 * samples.at("redundant_bytes").get<double>() / sampled),
        "", "");
  }
  const Json& huge = sum.at("huge_blocks");
  if (huge.at("examined_bytes") != 0) {
    text += wrap(fmt::format("Huge pages are zeroed whole: of {} examined in blocks with huge pages, the program had "
                             "written to {}.",
                             about_text(huge.at("examined_bytes")), about_text(huge.at("written_bytes"))),
                 "", "");
  }
  const Json& unseen = sum.at("unseen");
  if (unseen.at("calls").get<std::uint64_t>() > 0) {
    text +=
        wrap(fmt::format("{} returned populated blocks ({}) without a visible memset: the allocator zeroed them with "
                         "inline stores, or knew that they were zero.",
                         format_counted(unseen.at("calls"), "large calloc"), bytes_text(unseen.at("populated_bytes"))),
             "", "");
  }
  text +=
      wrap(fmt::format("Examining pages, contents and stacks took {} of the run.", ns_text(sum.at("own_ns"))), "", "");
  return text;
}

std::string blank_if_none(const Json& figure) { return figure == 0 ? "" : about_text(figure); }

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

/// The innermost function of a script on a stack: what the interpreter did was for it. Their number if there is none.
std::size_t script_frame(const Json& frames) {
  const auto found = std::find_if(frames.begin(), frames.end(), [](const Json& frame) {
    return is_not_available(frame.at("module")) && frame.at("function").is_string();
  });
  return static_cast<std::size_t>(found - frames.begin());
}

std::string sites(const Json& record) {
  const Json& all = record.at("sites");
  std::string text;
  std::size_t shown = 0;
  for (const Json& site : all) {
    if (shown == kTopSites || site_weight(site) == 0) break;
    if (shown++ == 0) {
      text += fmt::format("\n{:<8} {:>10} {:>11} {:>11} {:>11} {:>11}  {}\n", "in", "calls", "stored", "redundant",
                          "by kernel", "returned", "at");
    }
    const Json& sampled = site.at("sampled");
    const std::uint64_t redundant = site.at("redundant_zeroed_bytes").get<std::uint64_t>() +
                                    sampled.at("redundant_zeroed_bytes").get<std::uint64_t>();
    const std::string mark = sampled.at("zeroed_bytes").get<std::uint64_t>() > 0 ? "~" : "";
    const auto marked = [&](std::uint64_t value) { return value == 0 ? "" : mark + about_text(value); };
    text += without_trailing_blanks(fmt::format(
        "{:<8} {:>10} {:>11} {:>11} {:>11} {:>11}", site.at("kind") == "by_hand" ? "by hand" : site.at("kind"),
        count_text(site.at("calls")), marked(site_zeroed_bytes(site)), marked(redundant),
        blank_if_none(site.at("kernel_zeroed_bytes")), blank_if_none(site.at("returned_bytes"))));
    const Json& frames = site.at("frames");
    if (frames.empty()) text += "  (unknown)\n";
    for (std::size_t i = 0; i < frames.size() && i <= kCallers; ++i) {
      text += (i == 0 ? "\n" : "") + wrap(frame_label(frames[i], false), "    ", "      ");
    }
    const std::size_t script = script_frame(frames);
    if (script > kCallers && script < frames.size()) text += wrap(frame_label(frames[script], false), "    ", "      ");
  }
  return text;
}

std::string histogram(const Json& record) {
  std::string text = fmt::format("\n{:<8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "size", "callocs", "mallocs",
                                 "zeroed", "redundant", "by hand", "by kernel", "returned");
  for (const Json& row : record.at("histogram")) {
    const bool filled = row.contains("unpopulated_blocks") && row.at("unpopulated_blocks") != 0;
    const bool zeroed = row.at("zeroed_bytes") != 0 || row.at("by_hand_zeroed_bytes") != 0;
    if (row.at("calloc_calls") == 0 && !zeroed && !filled) continue;
    const auto kernel = [&](const char* key) { return row.contains(key) ? blank_if_none(row.at(key)) : "n/a"; };
    text += fmt::format("{:<8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", bytes_text(row.at("from_bytes")),
                        count_text(row.at("calloc_calls")), count_text(row.at("malloc_calls")),
                        blank_if_none(row.at("zeroed_bytes")), blank_if_none(row.at("redundant_zeroed_bytes")),
                        blank_if_none(row.at("by_hand_zeroed_bytes")), kernel("kernel_zeroed_bytes"),
                        kernel("returned_bytes"));
  }
  return text;
}

std::uint64_t weight(const Json& entry) {
  const Json& figures = entry.at("figures");
  const Json& zeroed = figures.at("zeroed_bytes");
  return (zeroed.is_number() ? zeroed.get<std::uint64_t>() : 0) +
         figures.at("by_hand").at("zeroed_bytes").get<std::uint64_t>();
}

std::vector<const Json*> heaviest(const Json& entries, std::size_t most) {
  std::vector<const Json*> order;
  for (const Json& entry : entries) order.push_back(&entry);
  std::stable_sort(order.begin(), order.end(), [](const Json* a, const Json* b) { return weight(*a) > weight(*b); });
  if (order.size() > most) order.resize(most);
  return order;
}

std::string row(const std::string& label, const std::string& name, const Json& figures) {
  const auto both = [&](const char* key) {
    const Json& one = figures.at(key);
    const Json& other = figures.at("by_hand").at(key);
    if (!one.is_number()) return other.is_number() && other != 0 ? other : one;
    return Json(one.get<std::uint64_t>() + (other.is_number() ? other.get<std::uint64_t>() : 0));
  };
  return fmt::format("{:<9} {:<24} {:>10} {:>10} {:>11} {:>10}\n", label, name.substr(0, 24),
                     count_text(figures.at("calloc_calls")), about_text(both("zeroed_bytes")),
                     about_text(both("redundant_zeroed_bytes")), ns_text(both("zero_ns")));
}

std::string processes(const Json& record) {
  const Json& all = record.at("processes");
  std::string text = fmt::format("\n{:<9} {:<24} {:>10} {:>10} {:>11} {:>10}\n", "pid", "command", "callocs", "zeroed",
                                 "redundant", "time");
  for (const Json* process : heaviest(all, kTopProcesses)) {
    const std::string command = process->at("command");
    std::string name = file_name(command.empty() ? process->at("executable").get<std::string>()
                                                 : command.substr(0, command.find(' ')));
    if (process->at("began") == "fork") name += " (fork)";
    text += row(std::to_string(process->at("pid").get<int>()), name, process->at("figures"));
    const Json& threads = process->at("threads");
    if (threads.size() < 2) continue;
    for (const Json* thread : heaviest(threads, kTopThreads)) {
      const auto merged = thread->at("threads").get<std::uint64_t>();
      const std::string label = merged > 1 ? fmt::format("{} threads", merged) : thread->at("name").get<std::string>();
      text += row("", "  thread " + label, thread->at("figures"));
    }
    if (threads.size() > kTopThreads)
      text += fmt::format("{:<9}   and {}\n", "", format_counted(threads.size() - kTopThreads, "more thread"));
  }
  if (all.size() > kTopProcesses)
    text += fmt::format("and {}\n", format_counted(all.size() - kTopProcesses, "more process", "more processes"));
  return text;
}

std::string warnings(const Json& record) {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& line) {
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  };
  for (const Json& process : record.at("processes")) {
    const std::string executable = process.at("executable");
    for (const Json& gap : process.at("gaps")) {
      add(fmt::format("{}: {}.", file_name(executable), gap.get<std::string>()));
    }
    if (process.at("ended") == "running") {
      add(fmt::format("process {} is still running: its counts are as of now.", process.at("pid").get<int>()));
    }
  }
  for (const Json& missed : record.at("not_followed")) {
    add(fmt::format("not followed: {} ({}).", missed.at("program").get<std::string>(),
                    missed.at("reason").get<std::string>()));
  }
  if (record.at("lost_processes") != 0)
    add("there were more processes than there is room for: some were not recorded.");
  std::string text = lines.empty() ? "" : "\n";
  for (const std::string& line : lines) text += wrap(line, "! ", "  ");
  return text;
}

}  // namespace

std::string record_text(const Json& record) {
  const Json& run = record.at("run");
  const std::string end = run.at("signal").is_string()
                              ? "was killed by " + run.at("signal").get<std::string>()
                              : fmt::format("exited with {}", run.at("exit_status").get<int>());
  std::string text = recorder_cost_text(record.at("tax"));
  text += wrap(fmt::format("zerotax record: {} {} after {}, {} of CPU time, {} {}.",
                           file_name(record.at("command").at(0)), end, ns_text(run.at("wall_ns")),
                           ns_text(run.at("user_ns").get<double>() + run.at("system_ns").get<double>()),
                           record.at("processes").size(), record.at("processes").size() == 1 ? "process" : "processes"),
               "", "");
  if (record.at("processes").empty()) {
    return text + wrap("Nothing was recorded: the program did not load the recorder, or ended too early.", "", "") +
           warnings(record);
  }
  return text + tax_text(record.at("tax")) + returned_text(record.at("totals").at("returned")) + sites(record) +
         script_names_lines(record) + advice_text(record.at("tax")) + totals(record) + remarks(record) +
         histogram(record) + processes(record) + warnings(record) + pointer_text(record.at("tax"));
}

std::string next_step(const Json& record) {
  if (!is_worth_advice(record.at("tax"))) return "";
  std::vector<std::string> words{"zerotax", "advise", "--"};
  for (const Json& word : record.at("command")) words.push_back(word.get<std::string>());
  return shell_text(words);
}

}  // namespace zerotax::record
