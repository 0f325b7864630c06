#include "record/runs/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/lines.h"
#include "base/names.h"
#include "base/printable.h"
#include "files/folders.h"
#include "os/clock.h"
#include "os/elf_file.h"
#include "os/page.h"
#include "record/evidence.h"
#include "record/kernel_part.h"
#include "record/resident/watch.h"
#include "record/run.h"
#include "record/runs/resident.h"
#include "run/interrupt.h"
#include "run/metered_run.h"
#include "run/program_launch.h"

namespace zerotax::record::runs {
namespace {

Count sum_of(std::initializer_list<const Count*> parts) {
  std::uint64_t sum = 0;
  for (const Count* part : parts) {
    if (!*part) return *part;
    sum += **part;
  }
  return sum;
}

Values values_of(const Metrics& figures, const KernelMetrics& kernel) {
  using enum Metric;
  Values values;
  values[kMinorFaults] = kernel.minor_faults;
  values[kZeroFillFaults] = kernel.zero_fill_faults;
  values[kKernelZeroed] = kernel.zeroed_bytes;
  values[kFresh] = kernel.fresh_bytes;
  values[kRefilled] = kernel.refilled_bytes;
  values[kPeak] = kernel.peak_bytes;
  values[kReturned] = kernel.returned_bytes;
  const auto returned = [&](const auto& is_one) -> Count {
    if (!kernel.returned_bytes) return kernel.returned_bytes;
    std::uint64_t bytes = 0;
    for (const ReturnedBy& row : figures.returned.rows) bytes += is_one(row) ? row.bytes : 0;
    return bytes;
  };
  values[kReturnedInFree] = returned([](const auto& row) { return row.by == kByFree; });
  values[kReturnedInRealloc] = returned([](const auto& row) { return row.by == kByRealloc; });
  values[kReturnedByMunmap] = returned([](const auto& row) { return row.mechanism == kMunmap; });
  values[kReturnedByMadvise] = returned([](const auto& row) { return row.mechanism == kMadvise; });
  values[kReturnedByBrk] = returned([](const auto& row) { return row.mechanism == kBrk; });
  values[kZeroed] = figures.zeroed_bytes;
  values[kRedundant] = figures.redundant_zeroed_bytes;
  values[kNeeded] = figures.redundant_zeroed_bytes;
  if (values[kNeeded]) *values[kNeeded] = figures.examined_zeroed_bytes - *values[kNeeded];
  values[kZeroedInFree] = figures.in_free.zeroed_bytes;
  values[kByHand] = figures.by_hand.zeroed_bytes;
  values[kByProgram] = figures.by_program.zeroed_bytes;
  values[kAllocations] = sum_of({&figures.calloc_calls, &figures.malloc_calls, &figures.realloc_calls});
  values[kRequested] = sum_of({&figures.requested_bytes, &figures.malloc_bytes, &figures.realloc_bytes});
  values[kCallocCalls] = figures.calloc_calls;
  values[kCallocBytes] = figures.requested_bytes;
  values[kMallocCalls] = figures.malloc_calls;
  values[kMallocBytes] = figures.malloc_bytes;
  values[kReallocCalls] = figures.realloc_calls;
  values[kReallocBytes] = figures.realloc_bytes;
  values[kMappingCalls] = kernel.returned_bytes ? figures.mapping_calls : kernel.returned_bytes;
  values[kFreeCalls] = figures.free_calls;
  return values;
}

/// Returns the higher of the peaks of two processes.
Count most_of(const Count& one, const Count& other) {
  if (!one || !other) return one ? other : one;
  return std::max(*one, *other);
}

Values values_of(const RecordedProcess& process) {
  Values values = values_of(process.figures, process.kernel);
  values[Metric::kPeakLive] = process.peak_live_bytes;
  return values;
}

/// Returns, for each name of a process, the metrics of all processes of that name. Metrics are sums, except for peaks.
/// The peak of the live heap is the highest of any one process. The peak of resident memory is that of all processes at
/// one moment.
std::map<std::string, Values> by_name(const std::vector<RecordedProcess>& processes) {
  std::map<std::string, Values> found;
  std::map<std::string, std::vector<const RecordedProcess*>> named;
  for (const RecordedProcess& process : processes) {
    const Values values = values_of(process);
    named[file_name(process.executable)].push_back(&process);
    const auto [entry, is_new] = found.try_emplace(file_name(process.executable), values);
    if (is_new) continue;
    Values& sums = entry->second;
    const Count peak = most_of(sums[Metric::kPeakLive], values[Metric::kPeakLive]);
    for (std::size_t i = 0; i < kMetrics; ++i) sums.all[i] = sum_of({&sums.all[i], &values.all[i]});
    sums[Metric::kPeakLive] = peak;
  }
  for (const auto& [name, each] : named) found[name][Metric::kPeak] = peak_of(each);
  return found;
}

/// Returns the first process of each name, in the order of their start.
std::vector<Role> roles_of(std::vector<RecordedProcess> processes) {
  std::stable_sort(processes.begin(), processes.end(),
                   [](const auto& one, const auto& other) { return one.started_ns < other.started_ns; });
  std::map<std::int32_t, std::string> names;  // by PID
  std::vector<Role> roles;
  for (const RecordedProcess& process : processes) {
    const std::string name = file_name(process.executable);
    const auto parent = names.find(process.parent_pid);
    const bool is_known = std::any_of(roles.begin(), roles.end(), [&](const Role& each) { return each.name == name; });
    if (!is_known) roles.push_back({name, parent == names.end() ? "" : parent->second});
    names[process.pid] = name;
  }
  return roles;
}

void add_site(const RecordedSite& recorded, std::map<SiteKey, Site>& sites) {
  const auto [key, place] = key_of(recorded);
  Site& site = sites[key];
  if (site.place.function.empty()) site.place = place;
  using enum SiteNumber;
  site.numbers[kCalls] += recorded.calls + recorded.sampled.calls.value_or(0);
  site.numbers[kRequested] += recorded.requested_bytes;
  site.numbers[kKernelZeroed] += recorded.kernel_zeroed_bytes;
  site.numbers[kRefilled] += recorded.refilled_bytes;
  site.numbers[kReturned] += recorded.returned_bytes;
  site.numbers[kZeroed] += recorded.zeroed_bytes;
  site.numbers[kLive] += recorded.live_bytes;
}

/// Whether a site has too few bytes to be compared. Estimated bytes do not count, because they differ from run to run.
bool is_small(const Site& site) {
  std::uint64_t most = 0;
  for (std::size_t i = 1; i < kSiteNumbers; ++i) most = std::max(most, site.numbers.all[i]);
  return most < kLargeBytes;
}

/// Returns the allocator of the process with the most calls.
std::string allocator_of(const std::vector<RecordedProcess>& processes) {
  const RecordedProcess* busiest = nullptr;
  const auto calls = [](const RecordedProcess& process) {
    return process.figures.malloc_calls.value_or(0) + process.figures.calloc_calls.value_or(0);
  };
  for (const RecordedProcess& process : processes) {
    if (busiest == nullptr || calls(process) > calls(*busiest)) busiest = &process;
  }
  return busiest == nullptr ? "" : busiest->allocator;
}

MeteredCommand command_of(const Target& target, const TemporaryFolder& folder) {
  MeteredCommand command;
  command.program = target.recorded.program;
  command.words = target.recorded.words;
  command.folder = target.folder;
  if (!target.output.empty()) command.output = target.output;
  command.errors = folder.file("errors");
  command.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(target.timeout_s * 1e3)));
  return command;
}

/// Throws Stop if the user stopped zerotax, and UsageError if the command does not start or does not end in time.
MeteredRun run_to_end(const Target& target, const MeteredCommand& command) {
  MeteredRun run = run_metered(command);
  switch (run.end) {
    case MeteredRun::End::kStopped:
      throw Stop{};
    case MeteredRun::End::kTimeout:
      throw UsageError(fmt::format("'{}' did not end within {:g} s", target.name, target.timeout_s),
                       "give --timeout SECONDS, or a command that ends by itself");
    case MeteredRun::End::kMemory:
    case MeteredRun::End::kNotStarted:
      throw UsageError(fmt::format("'{}' could not be started: {}", target.name, run.why_not_started),
                       "check that the command starts without zerotax");
    case MeteredRun::End::kEnded:
      break;
  }
  return run;
}

/// Returns the command's last line on stderr, in brackets.
std::string last_words(const MeteredCommand& command) {
  const std::string said = last_line_of_file(command.errors);
  return said.empty() ? "" : fmt::format(" ({})", one_line(said));
}

/// Adds a note if the command failed. Throws UsageError if the command was killed.
CommandRun ended(CommandRun found, const MeteredRun& run, const Target& target, const MeteredCommand& command) {
  if (run.exited && run.code == 0) return found;
  const std::string words = last_words(command);
  if (!run.exited) {
    throw UsageError(fmt::format("'{}' was {}{}", target.name, zerotax::end_text(false, run.code), words),
                     "give a command that ends by itself; it has no terminal, and its standard input is /dev/null");
  }
  found.notes.insert(found.notes.begin(), fmt::format("ended with exit status {}{}", run.code, words));
  return found;
}

/// Counts the page faults of a program that cannot load the library, and of its descendants, by wait4(2).
CommandRun run_outside(const Target& target, MeteredCommand command) {
  command.environment.assign(target.env.begin(), target.env.end());
  command.fixed_layout = true;
  const MeteredRun run = run_to_end(target, command);
  CommandRun found;
  found.exit_status = run.code;
  found.all.all.fill(NotAvailable{"a command " + target.outside + ": only page faults are counted, from outside"});
  found.all[Metric::kMinorFaults] = static_cast<std::uint64_t>(run.faults);
  found.processes[file_name(target.recorded.program)] = found.all;
  return ended(std::move(found), run, target, command);
}

}  // namespace

CommandRun run_of(const Record& record, const std::string& name) {
  CommandRun run;
  run.exit_status = record.run.exit_status.value_or(0);
  run.all = values_of(record.totals, record.totals.kernel);
  run.all[Metric::kProcesses] = run.all[Metric::kForks] = std::uint64_t{0};
  if (record.forks) {
    run.all[Metric::kProcesses] = record.forks->calls;
    for (const ForkSiteRow& site : record.forks->sites) {
      if (site.kind == ForkKind::kFork) *run.all[Metric::kForks] += site.calls - site.failed;
    }
  }
  std::string why = run.all[Metric::kMinorFaults].why();
  if (why.empty()) why = run.all[Metric::kKernelZeroed].why();
  if (record.processes.empty()) why = "the recorder saw no process of the command";
  if (record.lost_processes != 0) why = "there were more processes than the recording has room for";
  if (!why.empty()) {
    throw MachineError(fmt::format("'{}' cannot be counted: {}", name, why),
                       "give a command whose processes all end by themselves; zerotax record -- COMMAND shows "
                       "more");
  }
  run.processes = by_name(record.processes);
  std::vector<const RecordedProcess*> all;
  for (const RecordedProcess& process : record.processes) all.push_back(&process);
  if (run.all[Metric::kPeak]) run.all[Metric::kPeak] = peak_of(all);
  run.roles = roles_of(record.processes);
  run.evidence = evidence_of(record, Costly::kRefilled);
  Count& peak = run.all[Metric::kPeakLive] = std::uint64_t{0};
  for (const auto& [name, values] : run.processes) peak = most_of(peak, values[Metric::kPeakLive]);
  if (record.resident) put_resident(*record.resident, run);
  for (const RecordedSite& site : record.sites) add_site(site, run.sites);
  std::erase_if(run.sites, [](const auto& each) { return is_small(each.second); });
  run.allocator = allocator_of(record.processes);
  for (const NotFollowed& missed : record.not_followed) {
    run.notes.push_back(fmt::format("not followed: {}: {}", file_name(missed.program), missed.reason));
  }
  return run;
}

namespace {

Target described(RecordTarget recorded, const std::vector<std::string>& words, const std::string& name,
                 double timeout_s) {
  Target target;
  target.recorded = std::move(recorded);
  // The document contains only valid UTF-8. `recorded` holds the original words of the command, which are run.
  for (const std::string& word : words) target.command.push_back(valid_utf8(word));
  target.name = printable(name.empty() ? file_name(words.front()) : name);
  target.timeout_s = timeout_s;
  return target;
}

}  // namespace

Target target_for(const std::vector<std::string>& words, const std::string& name, double timeout_s,
                  const std::string& allocator) {
  Target target = described(resolve_record_target(words, allocator, {}), words, name, timeout_s);
  target.allocator = allocator;
  return target;
}

std::vector<Target> targets_for(const std::vector<std::vector<std::string>>& commands, double timeout_s) {
  std::string why;
  for (const std::vector<std::string>& words : commands) {
    if (why.empty()) why = why_outside_only(resolve_program(words.front()));
  }
  std::vector<Target> targets;
  for (const std::vector<std::string>& words : commands) {
    if (why.empty()) {
      targets.push_back(target_for(words, "", timeout_s));
      continue;
    }
    RecordTarget plain;
    plain.words = words;
    plain.program = resolve_program(words.front());
    targets.push_back(described(std::move(plain), words, "", timeout_s));
    targets.back().outside = why;
  }
  return targets;
}

CommandRun run_once(const Target& target) {
  RecordArena arena(target.resident);
  arena.count_live_heap();
  return run_once(target, arena);
}

CommandRun run_once(const Target& target, RecordArena& arena) {
  const TemporaryFolder folder{"programs"};
  MeteredCommand command = command_of(target, folder);
  if (!target.outside.empty()) return run_outside(target, command);
  command.environment = recorded_command(target.recorded, arena).environment;
  for (auto& [key, value] : command.environment) {
    if (key == "LD_PRELOAD" && !target.preload.empty()) value += ":" + target.preload;
  }
  for (const auto& entry : target.env) command.environment.emplace_back(entry);
  command.fixed_layout = true;
  const std::string started = utc_now();
  std::optional<ResidentWatch> resident;
  if (target.resident) resident.emplace(arena);
  const MeteredRun run = run_to_end(target, command);
  if (resident) resident->stop();
  const Record record =
      record_result(target.recorded, foreground_result(run), arena, started, nullptr, resident ? &*resident : nullptr);
  CommandRun found;
  if (run.exited) found = run_of(record, target.name);
  return ended(std::move(found), run, target, command);
}

MeteredRun run_plain(const Target& target, const std::string& remedy) {
  const TemporaryFolder folder{"programs"};
  MeteredCommand command = command_of(target, folder);
  for (const auto& entry : target.env) command.environment.emplace_back(entry);
  MeteredRun run = run_to_end(target, command);
  if (run.exited && run.code == 0) return run;
  throw UsageError(fmt::format("'{}' {}{}{}", target.name, run.exited ? "ended with " : "was ",
                               zerotax::end_text(run.exited, run.code), last_words(command)),
                   remedy);
}

void add_setting(const EnvWord& word, Target& target) {
  if (target.env.emplace(word.key, word.value).second) return;
  throw UsageError(fmt::format("--env sets {} of {} twice", word.key, word.allocator), "leave one of them out");
}

}  // namespace zerotax::record::runs
