#include "replay/run.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "base/error.h"
#include "base/less.h"
#include "base/names.h"
#include "base/units.h"
#include "files/temporary_folder.h"
#include "os/memory.h"
#include "programs/run.h"
#include "run/allocators.h"
#include "run/experiment.h"
#include "run/program_launch.h"

namespace zerotax::replay {
namespace {

using programs::Metric;

/// What the processes of a replay said at their end.
struct Said {
  std::uint64_t calls = 0;
  std::uint64_t failed = 0;
  std::uint64_t own_faults = 0;
  std::uint64_t processes = 0;
};

Said read_said(const std::string& path) {
  std::ifstream file(path);
  Said sum;
  for (Said one; file >> one.calls >> one.failed >> one.own_faults;) {
    sum.calls += one.calls;
    sum.failed += one.failed;
    sum.own_faults += one.own_faults;
    ++sum.processes;
  }
  return sum;
}

programs::Target target_of(const Allocator& allocator, const std::string& prepared, const std::string& output,
                           double timeout_s) {
  programs::Target target;
  target.recorded.program = replay_program();
  target.recorded.words = {"replay-calls", prepared, "0"};
  target.recorded.library = project_library("libzerotax-record.so");
  target.recorded.allocator = allocator;
  target.name = "the replay under " + allocator.name;
  target.timeout_s = timeout_s;
  target.output = output;
  return target;
}

record::CallsCounts counts_of(const programs::CommandRun& run, std::uint64_t own_faults) {
  const programs::Values& all = run.all;
  Count faults = all[Metric::kMinorFaults];
  if (faults) *faults = less(*faults, own_faults);
  return {faults,
          all[Metric::kZeroFillFaults],
          all[Metric::kKernelZeroed],
          all[Metric::kRefilled],
          all[Metric::kReturned],
          all[Metric::kZeroed],
          all[Metric::kRedundant],
          all[Metric::kMappingCalls],
          all[Metric::kPeak]};
}

bool is_as_recorded(const Allocator& allocator, const programs::CommandRun& run, const Recording& recording) {
  std::vector<std::string> env;
  for (const auto& [key, value] : allocator.env) env.push_back(fmt::format("{}={}", key, value));
  return file_name(run.allocator) == recording.allocator && env == recording.env;
}

void replay_once(const Allocator& allocator, const std::string& prepared, const Plan& plan, const Recording& recording,
                 Replayed& row) {
  const TemporaryFolder folder{"replay"};
  programs::Target target = target_of(allocator, prepared, folder.file("said"), plan.timeout_s);
  record::RecordArena arena;
  const programs::CommandRun counted = programs::run_once(target, arena);
  if (counted.exit_status != 0) throw UsageError(fmt::format("it {}", counted.notes.front()), "");
  const Said said = read_said(target.output);
  if (said.processes == 0) throw UsageError("it ended before its calls did", "");
  row.failed_calls = said.failed;
  row.counts = counts_of(counted, said.own_faults);
  row.as_recorded = is_as_recorded(allocator, counted, recording);
  for (const auto& [key, value] :
       foreground_command(target.recorded.program, target.recorded.words, "", allocator).environment) {
    target.env[key] = value;
  }
  const MeteredRun timed = programs::run_plain(target, "");
  row.user_ns = timed.user_ns;
  row.system_ns = timed.system_ns;
  row.wall_ns = timed.wall_ns;
}

/// The reason why an allocator could not be replayed, in place of all that it would have shown.
void set_failure(Replayed& row, const std::string& why) {
  const NotAvailable none{why};
  row.counts = {none, none, none, none, none, none, none, none, none};
  row.failed_calls = none;
  row.user_ns = row.system_ns = row.wall_ns = none;
}

std::string words_of(const Allocator& allocator) {
  std::string words = name_and_version(allocator);
  for (const auto& [key, value] : allocator.env) words += fmt::format(" {}={}", key, value);
  return words;
}

}  // namespace

std::string replay_program() { return probe_folder() + "/replay-calls"; }

void check_fits(const Prepared& prepared) {
  const std::uint64_t usable = read_memory_state().usable();
  if (prepared.peak_bytes <= usable) return;
  throw MachineError(fmt::format("the recording's blocks take {}, and {} of memory can be used here",
                                 format_size(prepared.peak_bytes), format_size(usable)),
                     "replay it on a machine with more memory");
}

std::vector<Allocator> replayed_allocators(const std::vector<std::string>& words, const std::vector<std::string>& env) {
  std::vector<std::string> all = words;
  for (const BuiltinAllocator& each : builtin_allocators()) {
    if (words.empty() && each.missing.empty()) all.push_back(each.name);
  }
  std::set<std::string> names;
  std::vector<Allocator> allocators;
  for (const std::string& word : all) {
    const std::string name = word.substr(0, word.find('='));
    if (!names.insert(name).second)
      throw UsageError(fmt::format("allocator '{}' is given twice", name), "leave one of them out");
    std::vector<std::string> own;
    for (const std::string& each : env) {
      if (parse_env_word(each).allocator == name) own.push_back(each);
    }
    allocators.push_back(*resolve_program_allocator(word, own));
  }
  for (const std::string& each : env) {
    const std::string name = parse_env_word(each).allocator;
    if (names.count(name) == 0) {
      throw UsageError(fmt::format("--env '{}' is for '{}', which is not replayed", each, name),
                       fmt::format("add --allocator {}, or leave it out", name));
    }
  }
  return allocators;
}

bool replay_calls(const CallsFile& file, const Plan& plan, Replay& replay) {
  const TemporaryFolder folder{"replay"};
  const std::string path = folder.file("prepared");
  const Prepared prepared = prepare(file, path, plan.free_running);
  check_fits(prepared);
  Recording& recording = replay.recording;
  const record::CallsAbout& about = file.about();
  recording.bytes = file.bytes();
  recording.calls = prepared.calls;
  recording.processes = prepared.processes;
  recording.threads = prepared.threads;
  recording.allocator = about.allocator;
  recording.env = about.env;
  recording.limited = about.limited;
  recording.counts = about.recorded;
  replay.order = plan.free_running ? "free_running" : "recorded";
  replay.replays.resize(plan.allocators.size());
  std::vector<Item> items;
  for (std::size_t i = 0; i < plan.allocators.size(); ++i) {
    const Allocator& allocator = plan.allocators[i];
    Replayed& row = replay.replays[i];
    row.allocator = allocator_json(allocator);
    row.name = words_of(allocator);
    set_failure(row, "it was interrupted");
    Item& item = items.emplace_back();
    item.label = allocator.name;
    item.measure = [&](const Say&) {
      try {
        replay_once(allocator, path, plan, recording, row);
      } catch (const UsageError& failure) {
        set_failure(row, failure.what());
      }
    };
  }
  Experiment experiment("replaying");
  return experiment.run(items);
}

}  // namespace zerotax::replay
