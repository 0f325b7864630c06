#include "run/fleet/slurm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <sstream>

#include "base/error.h"
#include "base/lines.h"
#include "base/size.h"
#include "files/folders.h"
#include "files/output_file.h"
#include "os/child.h"
#include "run/helper_program.h"
#include "run/program_launch.h"

namespace zerotax::fleet {
namespace {

constexpr const char* kRefusedRemedy =
    "check the options after --on slurm and SBATCH_*, and the partitions and nodes that sinfo shows";

/// Runs one of Slurm's commands to its end, even after Ctrl-C. The commands are short, and interrupting a submission
/// would lose track of the job.
ChildResult run_slurm_command(const char* command, std::vector<std::string> arguments) {
  ChildCommand child;
  child.program = resolve_program(command);
  child.arguments = std::move(arguments);
  child.capture = true;
  child.fixed_layout = false;
  child.timeout = std::chrono::minutes(2);
  return run_child(child, [] { return false; });
}

/// Returns a command's output without the command's name at the start of each line.
std::string said(const ChildResult& result) {
  std::string words;
  std::istringstream lines(result.errors.empty() ? result.output : result.errors);
  for (std::string line; std::getline(lines, line);) {
    for (const char* prefix : {"sbatch: error: ", "sbatch: fatal: ", "sbatch: "}) {
      if (line.starts_with(prefix)) line.erase(0, std::string_view(prefix).size());
    }
    if (!line.empty()) words += (words.empty() ? "" : "; ") + line;
  }
  return words.empty() ? "it said nothing" : one_line(words);
}

std::uint64_t number_in(const std::string& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

bool SlurmTask::has_ended() const {
  constexpr std::array kEnded{"COMPLETED", "CANCELLED", "FAILED",   "TIMEOUT",       "NODE_FAIL",
                              "PREEMPTED", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY", "REVOKED"};
  return std::any_of(kEnded.begin(), kEnded.end(), [this](const char* word) { return state == word; });
}

bool SlurmTask::is_held() const {
  std::string words = reason;
  std::transform(words.begin(), words.end(), words.begin(), [](char each) { return each == '_' ? ' ' : each; });
  return state == "PENDING" && words.find("launch failed") != std::string::npos;
}

void check_slurm(const Place& place) {
  for (const char* command : {"sbatch", "squeue", "scancel"}) {
    try {
      resolve_program(command);
    } catch (const UsageError&) {
      throw MachineError(fmt::format("--on slurm needs Slurm, but {} is not installed here", command),
                         "run zerotax on a machine with Slurm's commands (Debian: slurm-client), or omit --on slurm");
    }
  }
  const TemporaryFolder folder("slurm");
  const std::string script = folder.file("task.sh");
  write_file(script, "#!/bin/sh\n");
  std::vector<std::string> arguments{"--test-only"};
  arguments.insert(arguments.end(), place.sbatch.begin(), place.sbatch.end());
  arguments.push_back(script);
  const ChildResult result = run_slurm_command("sbatch", arguments);
  if (!succeeded(result)) throw UsageError(fmt::format("sbatch refused the job: {}", said(result)), kRefusedRemedy);
}

std::uint64_t submit_array(const Submission& submission) {
  // The user's options come before those that zerotax relies on, because sbatch uses the last value of a repeated
  // option.
  std::vector<std::string> arguments{"--requeue"};
  const auto add = [&](const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
  };
  if (submission.exclusive) {
    add({"--exclusive", "--mem=0"});
  } else {
    add({fmt::format("--cpus-per-task={}", submission.cpus),
         fmt::format("--mem={}", submission.memory_bytes / kMiB + 1)});
  }
  add(submission.options);
  add({"--parsable", "--chdir=/", "--open-mode=append", "--nodes=1", "--ntasks=1",
       fmt::format("--job-name={}", submission.name), fmt::format("--output={}", submission.log),
       fmt::format("--array={}", fmt::join(submission.shards, ",")), submission.script});
  const ChildResult result = run_slurm_command("sbatch", arguments);
  const std::uint64_t job = succeeded(result) ? number_in(result.output) : 0;
  if (job == 0) throw UsageError(fmt::format("sbatch refused the job: {}", said(result)), kRefusedRemedy);
  return job;
}

std::optional<std::vector<SlurmTask>> tasks_of(const std::string& name) {
  // Jobs are listed by name, because squeue fails for a job number that it has forgotten, but not for an unknown name.
  const ChildResult result = run_slurm_command(
      "squeue", {"--noheader", "--array", "--states=all", "--name=" + name, "--format=%F|%K|%T|%N|%r"});
  if (!succeeded(result)) return std::nullopt;
  std::vector<SlurmTask> tasks;
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::array<std::string, 5> words;
    for (std::string& word : words) std::getline(fields, word, '|');
    tasks.push_back({number_in(words[0]), number_in(words[1]), words[2], words[3], words[4]});
  }
  return tasks;
}

void cancel_array(std::uint64_t job) { run_slurm_command("scancel", {fmt::format("{}", job)}); }

}  // namespace zerotax::fleet
