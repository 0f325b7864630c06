#include "replay/run.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/names.h"
#include "base/size.h"
#include "base/units.h"
#include "files/folders.h"
#include "os/memory.h"
#include "os/page.h"
#include "record/runs/run.h"
#include "run/allocators.h"
#include "run/experiment.h"
#include "run/helper_program.h"
#include "run/program_launch.h"

namespace zerotax::replay {
namespace {

using record::runs::Metric;

/// Sums of the lines that the processes of a replay print at their end.
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

record::runs::Target target_of(const Allocator& allocator, const std::string& prepared, const std::string& output,
                               double timeout_s) {
  record::runs::Target target;
  target.recorded.program = replay_program();
  target.recorded.words = {"replay-calls", prepared, "0"};
  target.recorded.library = project_library("libzerotax-record.so");
  target.recorded.allocator = allocator;
  target.name = "the replay under " + allocator.name;
  target.timeout_s = timeout_s;
  target.output = output;
  return target;
}

record::CallsCounts counts_of(const record::runs::CommandRun& run, std::uint64_t own_faults) {
  const record::runs::Values& all = run.all;
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

/// Bounds the counts that depend on unknown pages. The replay does not write to these pages, so its own counts are the
/// lower bounds.
void bound_counts(const Recording& recording, Replayed& row) {
  constexpr std::uint64_t kLittle = std::uint64_t{64} << 10;
  const std::uint64_t unknown = recording.unknown_bytes.value_or(0);
  if (unknown <= kLittle) return;
  const NotAvailable why{"the pages that the recorded program wrote to are unknown"};
  row.at_least = row.at_most = row.counts;
  using C = record::CallsCounts;
  for (const auto& [count, unit] : {std::pair{&C::minor_faults, std::uint64_t{page_bytes()}},
                                    {&C::zero_fill_faults, page_bytes()},
                                    {&C::kernel_zeroed_bytes, 1},
                                    {&C::refilled_bytes, 1},
                                    {&C::peak_bytes, 1}}) {
    if (!(row.counts.*count)) continue;
    Count& most = (*row.at_most).*count;
    if (unknown < kAddressSpaceBytes) {
      *most += unknown / unit;
    } else {
      most = why;
    }
    row.counts.*count = why;
  }
}

bool is_as_recorded(const Allocator& allocator, const record::runs::CommandRun& run, const Recording& recording) {
  std::vector<std::string> env;
  for (const auto& [key, value] : allocator.env) env.push_back(fmt::format("{}={}", key, value));
  return file_name(run.allocator) == recording.allocator && env == recording.env;
}

void replay_once(const Allocator& allocator, const std::string& prepared, const Plan& plan, const Recording& recording,
                 Replayed& row) {
  const TemporaryFolder folder{"replay"};
  record::runs::Target target = target_of(allocator, prepared, folder.file("said"), plan.timeout_s);
  record::RecordArena arena;
  const record::runs::CommandRun counted = record::runs::run_once(target, arena);
  if (counted.exit_status != 0) throw UsageError(fmt::format("it {}", counted.notes.front()), "");
  const Said said = read_said(target.output);
  if (said.processes == 0) throw UsageError("the replay ended before it had repeated all calls", "");
  row.failed_calls = said.failed;
  row.counts = counts_of(counted, said.own_faults);
  bound_counts(recording, row);
  row.as_recorded = is_as_recorded(allocator, counted, recording);
  if (!plan.times) {
    row.user_ns = row.system_ns = row.wall_ns = NotAvailable{"no times were requested"};
    return;
  }
  for (const auto& [key, value] :
       foreground_command(target.recorded.program, target.recorded.words, "", allocator).environment) {
    target.env[key] = value;
  }
  const MeteredRun timed = record::runs::run_plain(target, "");
  row.user_ns = timed.user_ns;
  row.system_ns = timed.system_ns;
  row.wall_ns = timed.wall_ns;
}

/// Sets every result to n/a, with the reason why the recording could not be replayed under the allocator.
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

/// One recording, which is prepared when its first replay begins. The prepared file is removed after the last replay.
class Prepare {
 public:
  Prepare(std::string path, const Plan& plan, Workload& workload)
      : path_(std::move(path)), plan_(plan), of_(workload) {}

  /// Returns the path of the prepared file.
  std::string file() {
    if (folder_) return folder_->file("prepared");
    folder_.emplace("replay");
    const CallsFile file(path_);
    const Prepared prepared = prepare(file, folder_->file("prepared"), plan_.free_running);
    check_fits(prepared);
    const record::CallsAbout& about = file.about();
    of_.recording = {path_,     file.bytes(),  prepared.calls, prepared.processes, prepared.threads, about.allocator,
                     about.env, about.limited, std::nullopt,   std::nullopt,       about.recorded};
    if (prepared.unknown_bytes != 0) {
      of_.recording.unknown_blocks = prepared.unknown_blocks;
      of_.recording.unknown_bytes = prepared.unknown_bytes;
    }
    return folder_->file("prepared");
  }
  void drop() { folder_.reset(); }

 private:
  std::string path_;
  const Plan& plan_;
  Workload& of_;
  std::optional<TemporaryFolder> folder_;
};

/// Initializes a workload without results.
void begin(const Plan& plan, Workload& workload) {
  workload = {};
  workload.complete = false;
  workload.order = plan.free_running ? "free_running" : "recorded";
  for (const Allocator& allocator : plan.allocators) {
    Replayed& row = workload.replays.emplace_back();
    row.allocator = allocator_json(allocator);
    row.name = words_of(allocator);
    set_failure(row, "it was interrupted");
  }
}

}  // namespace

std::string workload_name(const std::string& path) { return std::filesystem::path(path).stem().string(); }

std::string own_recordings() { return folder_of_scripts("workloads", "harness/program/replay/workloads", "README.md"); }

std::vector<std::string> recordings_in(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const std::string& given : paths) {
    std::error_code failure;
    const bool is_own = given == "workloads" && !fs::exists(given, failure) && !own_recordings().empty();
    const std::string path = is_own ? own_recordings() : given;
    if (!fs::is_directory(path, failure)) {
      files.push_back(path);
      continue;
    }
    const std::size_t before = files.size();
    for (const fs::directory_entry& entry : fs::directory_iterator(path, failure)) {
      if (entry.path().extension() == ".calls") files.push_back(entry.path().string());
    }
    if (failure) throw UsageError(fmt::format("{} cannot be read: {}", path, failure.message()), "check the path");
    if (files.size() == before) {
      throw UsageError(fmt::format("the folder {} has no recordings", path),
                       "give a folder with files named *.calls, or the files themselves");
    }
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
  }
  return files;
}

std::string replay_program() { return helper_program("replay-calls"); }

void check_fits(const Prepared& prepared) {
  const std::uint64_t usable = read_memory_state().usable();
  if (prepared.peak_bytes <= usable) return;
  throw MachineError(fmt::format("the recording's blocks take {}, but only {} of memory can be used here",
                                 format_size(prepared.peak_bytes), format_size(usable)),
                     "replay the recording on a machine with more memory");
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
      throw UsageError(fmt::format("--env '{}' names '{}', which is not among the replayed allocators", each, name),
                       fmt::format("add --allocator {}, or leave out this --env", name));
    }
  }
  return allocators;
}

bool replay_calls(const std::vector<std::string>& paths, const Plan& plan, std::vector<Workload>& workloads,
                  const std::function<void()>& keep) {
  workloads.resize(paths.size());
  // For each allocator, the workload whose replay reached the timeout; empty if there is none. Further workloads are
  // not replayed under this allocator, because they would reach the timeout, too.
  std::vector<std::string> hung(plan.allocators.size());
  std::vector<Item> items;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    Workload& workload = workloads[i];
    if (workload.complete && !workload.replays.empty()) continue;
    const CallsFile readable(paths[i]);  // each recording is checked before the first replay
    begin(plan, workload);
    const auto prepared = std::make_shared<Prepare>(paths[i], plan, workload);
    for (std::size_t k = 0; k < plan.allocators.size(); ++k) {
      Item& item = items.emplace_back();
      item.label = (paths.size() > 1 ? workload_name(paths[i]) + " under " : "") + plan.allocators[k].name;
      item.measure = [&, prepared, k](const Say&) {
        const std::string file = prepared->file();
        const auto begun = std::chrono::steady_clock::now();
        try {
          if (!hung[k].empty())
            throw UsageError(fmt::format("not tried, because the replay of {} did not end", hung[k]), "");
          replay_once(plan.allocators[k], file, plan, workload.recording, workload.replays[k]);
        } catch (const UsageError& failure) {
          set_failure(workload.replays[k], failure.what());
          const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
          if (took.count() >= plan.timeout_s) hung[k] = workload_name(workload.recording.path);
        }
        if (k + 1 < plan.allocators.size()) return;
        prepared->drop();
        workload.complete = true;
        add_verdict(workload);
        if (keep) keep();
      };
    }
  }
  Experiment experiment("replaying");
  return experiment.run(items);
}

}  // namespace zerotax::replay
