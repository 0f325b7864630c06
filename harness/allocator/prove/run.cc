#include "prove/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/size.h"
#include "files/document.h"
#include "files/folders.h"
#include "files/output_file.h"
#include "os/child.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/memory.h"
#include "os/stop.h"
#include "prove/finding.h"
#include "prove/functions.h"
#include "prove/process_run.h"
#include "prove/promises.h"
#include "run/allocators.h"
#include "run/debian_library.h"
#include "run/helper_program.h"
#include "run/probe_identity.h"
#include "run/progress.h"
#include "thresholds/document.h"

namespace zerotax::prove {
namespace {

/// Part of the time that the search for thresholds may take.
constexpr double kThresholdShare = 0.2;
/// With more sizes, too few blocks would have each size.
constexpr std::size_t kMostSizes = 48;
/// Time after its limit at which zerotax ends a process that still runs.
constexpr std::chrono::duration<double> kGrace{8};
constexpr const char* kRunAProgram = "run a program with this library, to see the failure";

double seconds_since(std::int64_t begin) { return static_cast<double>(monotonic_ns() - begin) / 1e9; }

/// Returns powers of two, which most allocators use as limits.
std::vector<std::uint64_t> usual_thresholds() {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = 32 * kKiB; size <= 64 * kMiB; size *= 2) sizes.push_back(size);
  return sizes;
}

/// The command line of the search for thresholds. The range covers the limits of mappings and caches.
std::vector<std::string> words_of(const Allocator& allocator, const std::string& file) {
  const std::string word = is_builtin(allocator.name) ? allocator.name : allocator_word(allocator);
  std::vector<std::string> words{"thresholds", "--allocator", word,    "--touch",   "1", "--grid", "1", "--from",
                                 "32KiB",      "--to",        "64MiB", "--timeout", "2", "--json", file};
  for (const auto& [key, value] : allocator.env) {
    words.insert(words.end(), {"--env", fmt::format("{}:{}={}", allocator.name, key, value)});
  }
  return words;
}

/// Returns the exact thresholds of an allocator that a quick search finds within the time limit, and otherwise sizes at
/// which allocators often change behavior. Writes a file to the folder, and calls `look` several times a second.
std::vector<std::uint64_t> threshold_sizes(const Allocator& allocator, double seconds, const std::string& folder,
                                           const std::function<void()>& look) {
  // The search runs in a process of its own, because an allocator that hangs at each size must not delay the proof.
  const std::string file = folder + "/thresholds.json";
  ChildCommand command;
  command.program = "/proc/self/exe";
  command.arguments = words_of(allocator, file);
  command.capture = true;
  command.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
  const ChildResult result = run_child(command, [&] {
    look();
    return stop_requested();
  });
  end_if_stopped();
  std::set<std::uint64_t> sizes;
  if (result.end == ChildResult::End::kExited && result.code <= static_cast<int>(ExitStatus::kFinding)) {
    const thresholds::Thresholds found =
        thresholds::read_thresholds(read_document(file, "thresholds", "this is a defect in zerotax"));
    for (const thresholds::ThresholdLane& lane : found.lanes) {
      for (const Threshold& each : lane.found.thresholds) sizes.insert(each.at_bytes);
    }
  }
  if (sizes.empty()) return usual_thresholds();
  std::vector<std::uint64_t> all(sizes.begin(), sizes.end());
  all.resize(std::min(all.size(), kMostSizes));
  return all;
}

/// The result of a search.
struct Search {
  ProcessLines lines;
  RecordFile record;  ///< operations up to the finding; empty if nothing was found
};

std::vector<std::string> arguments_of(const ProveRequest& request, const std::vector<std::uint64_t>& sizes,
                                      double seconds, const std::string& record) {
  std::vector<std::string> words{"--seed",    std::to_string(request.seed),
                                 "--seconds", fmt::format("{:.3f}", seconds),
                                 "--threads", std::to_string(request.threads),
                                 "--memory",  std::to_string(read_memory_state().usable()),
                                 "--record",  record};
  for (const std::uint64_t size : sizes) words.insert(words.end(), {"--size", std::to_string(size)});
  for (const std::string& name : request.without) words.insert(words.end(), {"--without", name});
  if (!request.api.empty()) words.insert(words.end(), {"--api", request.api});
  return words;
}

/// Throws an error if the process refused its input, or could not test the library.
void check_status(const ProcessEnd& end, const std::string& name) {
  if (end.child.code == static_cast<int>(ExitStatus::kUsage)) {
    throw UsageError(fmt::format("{}: {}", name, end.lines.last), "zerotax prove --help describes the options");
  }
  if (end.child.code == static_cast<int>(ExitStatus::kMachine)) {
    throw MachineError(fmt::format("{}: {}", name, end.lines.last), kRunAProgram);
  }
}

/// Searches until a broken promise is found, the time is over, or a signal requests an end. The process runs as many
/// sequences at a time as there are CPUs, and writes its files to the folder. Calls `look` several times a second.
Search search(const Allocator& allocator, const ProveRequest& request, const std::vector<std::uint64_t>& sizes,
              std::chrono::duration<double> time, const std::string& folder, const std::function<void()>& look) {
  const std::string record = folder + "/record";
  const ProcessEnd end = run_process(
      {allocator, arguments_of(request, sizes, time.count(), record), record + ".lines", time + kGrace}, look);
  Search search{end.lines, {}};
  if (stop_requested() && !search.lines.finding) {
    search.lines.is_interrupted = true;
    return search;
  }
  const bool has_exited = end.child.end == ChildResult::End::kExited;
  if (has_exited && !search.lines.finding) check_status(end, allocator.name);
  if (!has_exited || (end.child.code != 0 && !search.lines.finding)) {
    throw MachineError(fmt::format("{}: the process that makes the calls was {}", allocator.name,
                                   has_exited ? "ended by the library" : how_it_ended(end.child, time + kGrace)),
                       kRunAProgram);
  }
  std::error_code failure;
  if (search.lines.finding && std::filesystem::exists(record, failure)) search.record = read_record(record);
  return search;
}

}  // namespace

std::vector<Allocator> proved_allocators(const std::vector<std::string>& words, const std::vector<std::string>& env) {
  return with_libraries(resolve_allocators(words, env));
}

std::vector<Allocator> with_libraries(std::vector<Allocator> allocators) {
  for (Allocator& allocator : allocators) {
    check_loads_here(allocator.preload);
    allocator.preload = library_to_preload(allocator);
  }
  return allocators;
}

ProveRequest fixed_request() {
  ProveRequest request;
  request.seconds = 20;
  request.sizes = usual_thresholds();
  return request;
}

std::string program_file(const std::string& allocator) { return allocator + ".c"; }

Proof prove_allocator(const Allocator& allocator, const ProveRequest& asked, const Say& say) {
  const TemporaryFolder folder("prove");
  ProveRequest request = asked;
  request.api = fmt::format("{}/functions", folder.path());
  const std::string lines = built_in_lines() + (asked.api.empty() ? "" : read_lines(asked.api));
  const std::vector<Function> functions = functions_of(lines, asked.api);
  write_file(request.api, lines);
  const std::int64_t begin = monotonic_ns();
  Proof proof;
  proof.allocator = allocator_json(allocator);
  proof.thresholds = request.sizes;
  if (request.sizes.empty()) {
    const auto look = [&] { say("searching thresholds of " + allocator.name); };
    proof.thresholds = threshold_sizes(allocator, request.seconds * kThresholdShare, folder.path(), look);
  }
  const std::chrono::duration<double> left{std::max(1.0, request.seconds - seconds_since(begin))};
  Search found =
      search(allocator, request, proof.thresholds, left, folder.path(), [&] { say("calling " + allocator.name); });
  proof.coverage = std::move(found.lines.coverage);
  proof.missing = std::move(found.lines.missing);
  if (found.lines.finding) {
    const FindingWork work{allocator, functions, request, folder.path(), [&](std::size_t operations) {
                             say(fmt::format("reducing {} calls of {}", operations, allocator.name));
                           }};
    proof.finding = reduced_finding(work, *found.lines.finding, found.record);
  }
  if (found.lines.is_interrupted) {
    judge_interrupted(proof);
  } else {
    judge(proof);
  }
  return proof;
}

Proofs prove_all(const std::vector<Allocator>& allocators, const ProveRequest& request,
                 const std::vector<std::string>& command) {
  Proofs proofs;
  proofs.schema = "zerotax.prove/1";
  proofs.zerotax_version = ZEROTAX_VERSION;
  proofs.started = utc_now();
  proofs.command = command;
  proofs.environment = describe_environment();
  proofs.seed = request.seed;
  proofs.seconds = request.seconds;
  proofs.threads = request.threads;
  const auto whole = static_cast<std::size_t>(std::max(1.0, std::ceil(request.seconds)));
  Progress progress("proving", whole * allocators.size(), static_cast<double>(whole * allocators.size()));
  for (const Allocator& allocator : allocators) {
    if (stop_requested()) break;
    const std::int64_t begin = monotonic_ns();
    std::size_t told = 0;
    proofs.proofs.push_back(prove_allocator(allocator, request, [&](const std::string& what) {
      for (; told < whole && seconds_since(begin) >= static_cast<double>(told + 1); ++told) progress.advance(1);
      progress.show(what);
    }));
    for (; told < whole; ++told) progress.advance(1);
  }
  progress.clear();
  proofs.complete = !stop_requested();
  return proofs;
}

}  // namespace zerotax::prove
