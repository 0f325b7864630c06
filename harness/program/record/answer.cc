#include "record/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/names.h"
#include "base/shell.h"
#include "base/units.h"
#include "record/resident/answer.h"
#include "record/tax.h"
#include "record/where.h"

namespace zerotax::record {
namespace {

constexpr std::size_t kMostNotFollowed = 2;

bool is_of_several(const Record& record) {
  return record.outside && record.outside->watched != Watched::kCommand && record.outside->watched != Watched::kProcess;
}

Subject subject_of(const Record& record) {
  const std::size_t count = number_of_processes(record);
  if (is_of_several(record)) {
    const Watched watched = record.outside->watched;
    const std::string processes = format_counted(count, "process", "processes");
    const std::string of = watched == Watched::kUser     ? " of this user"
                           : watched == Watched::kCgroup ? " of cgroup " + record.outside->cgroup.value_or("")
                                                         : "";
    return {fmt::format("In {}, {}{}", format_ns(static_cast<double>(record.run.wall_ns)), processes, of), count != 1};
  }
  std::string words = record.command.empty() ? "the program" : short_text(file_name(record.command.front()));
  if (record.allocator.is_object()) words += " with " + record.allocator.value("name", "another allocator");
  if (record.outside && record.outside->pid) {
    words = fmt::format("In {}, {} (PID {})", format_ns(static_cast<double>(record.run.wall_ns)), words,
                        *record.outside->pid);
  }
  if (count < 2) return {words, false};
  return {fmt::format("{} and {}", words, format_counted(count - 1, "other process", "other processes")), true};
}

/// Returns the options that make another command choose the same program or processes, such as "--pid 4711" or "--
/// python3 script.py".
std::string target_words(const Record& record) {
  const Watched watched = record.outside ? record.outside->watched : Watched::kCommand;
  if (watched == Watched::kProcess) return fmt::format("--pid {}", record.outside->pid.value_or(0));
  if (watched == Watched::kCgroup) return "--cgroup " + shell_word(record.outside->cgroup.value_or(""));
  return watched == Watched::kCommand ? "-- " + shell_text(record.command) : "--all";
}

/// Returns the recorded command with the remedy's variables. If the program was recorded from outside, its command line
/// is read from the running program.
std::string command_with_settings(const Record& record) {
  std::string command;
  const Json& allocator = record.allocator;
  if (allocator.is_object() && allocator.contains("preload") && allocator["preload"].is_string()) {
    command += "LD_PRELOAD=" + shell_word(allocator["preload"].get<std::string>()) + " ";
  }
  for (const auto& [variable, value] : record.tax.env) command += variable + "=" + shell_word(value) + " ";
  return command + shell_text(record.command);
}

std::vector<Answer::Step> steps(const Record& record) {
  const Tax& tax = record.tax;
  std::vector<Answer::Step> all;
  if (tax.longer_seconds != 0) {
    all.push_back(
        {fmt::format("zerotax record {} --seconds {}", target_words(record), tax.longer_seconds), "watch for longer:"});
  } else if (!tax.env.empty() && !record.command.empty()) {
    all.push_back({command_with_settings(record), record.outside && record.outside->pid ? "start it again:" : ""});
  } else if (!tax.remedy.empty()) {
    all.push_back({"", tax.remedy + "."});
  }
  if (!is_of_several(record)) {
    if (tax.find_out == FindOut::kCauses) {
      add_alternative(all, {"zerotax profile " + target_words(record), "sample all processes from outside:"});
    }
    if (tax.find_out == FindOut::kFaults) {
      add_alternative(all, {"zerotax cow " + target_words(record), "find the causes of the other page faults:"});
    }
  }
  if (const std::string next = next_step(record); !next.empty()) {
    add_alternative(all, {next, "let zerotax find and prove a remedy:"});
  }
  if (!all.empty() || costly_rows(tax).empty()) return all;
  const RecordedProcess* const process = worst_process(record);
  if (!is_of_several(record)) {
    all.push_back({"zerotax profile " + target_words(record), "no remedy is known; find the functions that fault:"});
  } else if (process != nullptr && process->ended == kRunning) {
    all.push_back(
        {fmt::format("zerotax record --pid {}", process->pid), "record the process with the most page faults:"});
  }
  return all;
}

std::vector<std::string> all_warnings(const Record& record, bool has_site) {
  std::vector<std::string> all;
  if (record.run.signal || record.run.exit_status.value_or(0) != 0) all.push_back(end_words(record) + ".");
  for (std::string& each : tax_warnings(record.tax)) all.push_back(std::move(each));
  for (std::string& each : warnings(record, kMostNotFollowed)) all.push_back(std::move(each));
  if (record.outside) all.insert(all.end(), record.outside->notes.begin(), record.outside->notes.end());
  if (!record.tax.env.empty()) all.push_back(fmt::format("The settings have a price: {}.", record.tax.env_costs));
  for (const InterpreterNames& each : record.script_names) {
    if (!has_site || each.names || is_of_several(record)) continue;
    all.push_back(fmt::format("{} names no functions of scripts ({}).", each.interpreter, each.names.why()));
  }
  return all;
}

/// Explains the words in brackets of the causes in the table.
std::string cause_legend(const std::vector<const TaxRow*>& rows) {
  constexpr std::pair<Cause, const char*> kWords[] = {
      {Cause::kFresh, "fresh: never held before"},
      {Cause::kRefilled, "refilled: held before, and returned"},
      {Cause::kReturning, "returned: given back by munmap, madvise or brk"},
      {Cause::kRedundant, "redundant: zero already"}};
  std::vector<std::string> parts;
  for (const auto& each : kWords) {
    const auto is_of = [&each](const TaxRow* row) { return row->cause == each.first; };
    if (std::any_of(rows.begin(), rows.end(), is_of)) parts.emplace_back(each.second);
  }
  return parts.empty() ? "" : fmt::format("{}. ", fmt::join(parts, "; "));
}

std::string legend(const Record& record, const std::vector<const TaxRow*>& rows) {
  std::string text = cause_legend(rows);
  if (const std::string estimate = estimate_words(record.tax); !estimate.empty()) text += estimate + " ";
  if (!record.outside) return text + "Zeros stored inline, without memset, are not counted.";
  const Outside& outside = *record.outside;
  if (outside.cpu_samples + outside.fault_samples != 0) {
    text += fmt::format("~ marks estimates from {} of CPU time and {} of page faults. ",
                        format_counted(outside.cpu_samples, "sample"), format_count(outside.fault_samples));
  }
  return text + "From outside, calls to malloc and redundant zeroing are not seen.";
}

}  // namespace

std::string headline(const Record& record) {
  const Subject subject = subject_of(record);
  if (!record.processes.empty() || record.outside) return tax_headline(subject, record.tax);
  return subject.words + " recorded nothing: it did not load the recorder, or ended too early.";
}

std::string rates_words(const Record& record) {
  if (!record.outside || !record.outside->rates) return "";
  const Rates& rates = *record.outside->rates;
  if (!rates.faults_per_s || *rates.faults_per_s == 0 || !rates.faults_per_cpu_s) return "";
  const auto number = [](double value) { return format_number(value); };
  std::string text = fmt::format("Page faults: {} per second, and {} per second of CPU time",
                                 number(*rates.faults_per_s), number(*rates.faults_per_cpu_s));
  if (rates.refilled_bytes_per_s && *rates.refilled_bytes_per_s >= 1) {
    text += fmt::format("; refilled: {} per second", format_size(as_count(*rates.refilled_bytes_per_s)));
  }
  return text + ".";
}

std::string end_words(const Record& record) {
  const std::string name = record.command.empty() ? "The program" : short_text(file_name(record.command.front()));
  if (record.run.signal) return fmt::format("{} was killed by {}", name, *record.run.signal);
  return fmt::format("{} exited with {}", name, record.run.exit_status.value_or(0));
}

std::vector<std::string> warnings(const Record& record, std::size_t most_not_followed) {
  std::vector<std::string> all;
  const auto add = [&](const std::string& line) {
    if (std::find(all.begin(), all.end(), line) == all.end()) all.push_back(line);
  };
  if (record.outside) return all;
  if (const NotRecorded& missed = record.tax.not_recorded; missed.noticed && record.not_followed.size() != 1) {
    add(fmt::format("The numbers do not include {} that recorded nothing, {}.",
                    format_counted(missed.processes, "process", "processes"),
                    used_text(missed.minor_faults, missed.cpu_ns)));
  }
  for (const RecordedProcess& process : record.processes) {
    for (const std::string& gap : process.gaps) add(fmt::format("{}: {}.", file_name(process.executable), gap));
    if (process.ended == kRunning)
      add(fmt::format("Process {} still runs, so its counts are incomplete.", process.pid));
  }
  for (std::size_t i = 0; i < std::min(most_not_followed, record.not_followed.size()); ++i) {
    const NotFollowed& missed = record.not_followed[i];
    add(fmt::format("{}{} was not recorded{} ({}), {}.", missed.program,
                    missed.processes > 1 ? fmt::format(", {} times,", format_count(missed.processes)) : "",
                    record.tax.not_recorded.noticed ? " and is not in the numbers" : "", missed.reason,
                    used_text(missed.minor_faults, missed.cpu_ns)));
  }
  if (record.not_followed.size() > most_not_followed) {
    add(fmt::format("{} not recorded, either.", format_counted(record.not_followed.size() - most_not_followed,
                                                               "more program was", "more programs were")));
  }
  if (record.lost_processes != 0) {
    add(fmt::format("The recording had no room for {}.",
                    format_counted(record.lost_processes, "more process", "more processes")));
  }
  return all;
}

std::string next_step(const Record& record) {
  if (record.outside && !record.outside->advisable) return "";
  return is_worth_advice(record.tax) ? "zerotax advise -- " + shell_text(record.command) : "";
}

Answer answer(const Record& record) {
  if (record.resident) return resident_answer(record);
  Answer answer{.headline = headline(record), .more = "All causes, sites and sizes"};
  const bool is_recorded = !record.processes.empty() || record.outside;
  const std::vector<const TaxRow*> rows = is_recorded ? costly_rows(record.tax) : std::vector<const TaxRow*>{};
  if (!rows.empty()) {
    answer.table = cause_table(record.tax);
    answer.where = where_words(record, rows);
    const std::string huge = record.huge_pages ? huge_words(*record.huge_pages) : "";
    if (!huge.empty()) answer.where += (answer.where.empty() ? "" : " ") + huge;
    answer.legend = legend(record, rows);
  }
  if (record.forks) {
    const std::string words = fork_words(*record.forks, record.run.wall_ns);
    if (!words.empty()) answer.where += (answer.where.empty() ? "" : " ") + words;
  }
  if (const std::string rates = rates_words(record); !rates.empty()) answer.headline += " " + rates;
  if (is_recorded) answer.steps = steps(record);
  answer.warnings = all_warnings(record, !answer.where.empty());
  return answer;
}

}  // namespace zerotax::record
