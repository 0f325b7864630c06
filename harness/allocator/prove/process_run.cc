#include "prove/process_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "os/clock.h"
#include "os/machine_trouble.h"
#include "os/stop.h"
#include "run/allocators.h"
#include "run/debian_library.h"

namespace zerotax::prove {
namespace {

constexpr const char* kProgram = "zerotax-prove-calls";
/// Time limit of a replay. A reduced sequence takes milliseconds, and a long one a few seconds.
constexpr auto kReplayTimeout = std::chrono::seconds(15);

constexpr std::int64_t kLookNs = 200'000'000;
/// Time in which a process ends after SIGTERM.
constexpr std::int64_t kEndingNs = 3'000'000'000;

}  // namespace

ProcessEnd run_process(const ProcessRun& run, const std::function<void()>& look) {
  std::filesystem::remove(run.lines);
  ChildCommand command;
  command.program = helper_program(kProgram);
  command.arguments = run.arguments;
  command.arguments.insert(command.arguments.end(), {"--lines", run.lines});
  command.capture = true;        // keeps the output of the library off the terminal
  command.fixed_layout = false;  // keeps address randomization, because users' programs run with it
  command.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(run.timeout);
  for (const auto& entry : run.allocator.env) command.environment.emplace_back(entry);
  // A search loads the library only into the processes that it starts, so that a library that exits or hangs while it
  // is loaded does not end the search.
  const bool searches = std::find(run.arguments.begin(), run.arguments.end(), "--replay") == run.arguments.end();
  if (run.allocator.preload && searches) {
    command.arguments.insert(command.arguments.end(), {"--preload", *run.allocator.preload});
  } else if (run.allocator.preload) {
    command.environment.emplace_back("LD_PRELOAD", *run.allocator.preload);
  }
  use_own_libraries(command, run.allocator.preload);
  command.watch = [&look, last = std::int64_t{0}, told = std::int64_t{0}](pid_t process) mutable {
    const std::int64_t now = monotonic_ns();
    if (now - last > kLookNs) {
      last = now;
      look();
    }
    if (!stop_requested()) return false;
    if (told == 0) ::kill(process, SIGTERM);
    if (told == 0) told = now;
    return now - told > kEndingNs;
  };
  ProcessEnd end;
  end.child = run_child(command, [] { return false; });
  std::ifstream file(run.lines);
  end.lines = parse_lines({std::istreambuf_iterator<char>(file), {}});
  if (end.child.end == ChildResult::End::kNotStarted) throw start_trouble(kProgram, end.child, "");
  return end;
}

Replayer::Replayer(Allocator allocator, const head& counters, const std::string& folder, const std::string& api)
    : counters_(counters), scratch_(folder + "/replayed") {
  std::vector<std::string> arguments{"--replay", scratch_};
  if (!api.empty()) arguments.insert(arguments.end(), {"--api", api});
  run_ = {std::move(allocator), std::move(arguments), folder + "/replayed.lines", kReplayTimeout};
}

std::optional<ProofFinding> Replayer::replay(const Ops& ops) const {
  end_if_stopped();
  write_record(scratch_, counters_, ops);
  const ProcessEnd end = run_process(run_, [] {});
  end_if_stopped();
  if (end.lines.finding) return end.lines.finding;
  // A replay that could not start shows nothing. It ends with a message and status 2 or 3.
  if (end.child.end == ChildResult::End::kExited && end.child.code > 1 && !end.lines.last.empty()) return std::nullopt;
  ProofFinding finding;
  if (end.child.end == ChildResult::End::kTimeout) {
    finding.kind = FindingKind::kHung;
  } else if (end.child.end == ChildResult::End::kSignalled) {
    finding.kind = FindingKind::kCrashed;
    finding.detail = static_cast<std::uint64_t>(end.child.code);
  } else if (end.child.end != ChildResult::End::kExited || end.child.code != 0) {
    finding.kind = FindingKind::kExited;
    finding.detail = static_cast<std::uint64_t>(end.child.code);
  } else {
    return std::nullopt;
  }
  finding.sentence = finding_sentence(finding);
  return finding;
}

}  // namespace zerotax::prove
