#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "contract/suite_document.h"
#include "files/folders.h"
#include "files/output_file.h"
#include "os/child.h"
#include "os/process_info.h"
#include "run/allocators.h"
#include "run/experiment.h"
#include "run/helper_program.h"
#include "run/interrupt.h"
#include "run/program_launch.h"

namespace zerotax::contract {
namespace {

/// What one promise may take beside its race; the suite's own limit, which is less, says where it hangs.
constexpr double kLimitS = 60;

/// Removes the cgroups of tests that have ended without doing so (suite/kernel.c makes these cgroups). `killed`: a
/// suite was just killed, and its test may need some milliseconds to end. The kernel needs as long to empty a cgroup.
void remove_left_cgroups(bool killed) {
  constexpr int kTries = 200;
  constexpr std::chrono::milliseconds kBetweenTries{5};
  for (const char* root : {"/sys/fs/cgroup/memory", "/sys/fs/cgroup"}) {
    std::error_code failure;
    for (std::filesystem::directory_iterator at(root, failure), end; !failure && at != end; at.increment(failure)) {
      int pid = 0;
      if (std::sscanf(at->path().filename().c_str(), "zerotax-contract-%d", &pid) != 1) continue;
      for (int i = 0; i < kTries; ++i) {
        const bool running = is_running(pid);
        if (running && !killed) break;
        if (!running && (::rmdir(at->path().c_str()) == 0 || errno != EBUSY)) break;
        std::this_thread::sleep_for(kBetweenTries);
      }
    }
  }
}

std::string suite_program() {
  // For tests: a build of the suite that lies.
  const char* other = std::getenv("ZEROTAX_CONTRACT_SUITE");
  std::string program = other != nullptr ? other : probe_folder() + "/zerotax-contract";
  if (::access(program.c_str(), X_OK) != 0) {
    throw MachineError(fmt::format("{} is missing: this build had no static C library", program),
                       "build it with ./run build");
  }
  return program;
}

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
}

ChildCommand suite_command(std::vector<std::string> words, double seconds) {
  ChildCommand command;
  command.program = suite_program();
  command.arguments = std::move(words);
  command.capture = true;
  command.timeout = milliseconds(seconds);
  if (const char* lie = std::getenv("ZEROTAX_CONTRACT_LIE")) {
    command.arguments.insert(command.arguments.end(), {"--lie", lie});
  }
  return command;
}

/// The command with another command line, `under`, put before it.
ChildCommand under_command(const std::vector<std::string>& under, ChildCommand command) {
  if (under.empty()) return command;
  std::vector<std::string> words(under.begin() + 1, under.end());
  words.push_back(command.program);
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  command.program = resolve_program(under.front());
  command.arguments = std::move(words);
  return command;
}

Reproducer::Run run_reproducer(const std::string& program, const std::vector<std::string>& under) {
  ChildCommand command;
  command.program = program;
  command.capture = true;
  const ChildResult ran = run_child(under_command(under, command), stop_requested);
  end_if_stopped();
  if (ran.end == ChildResult::End::kExited) return {"", ran.code, ran.output};
  return {ran.end == ChildResult::End::kSignalled ? "it was killed by " + signal_name(ran.code)
                                                  : "it did not end within 30 s",
          0, ""};
}

Reproducer reproduce(const std::string& program, const std::vector<std::string>& under) {
  Reproducer made;
  made.program = program;
  const TemporaryFolder folder("contract");
  write_file(folder.file("shows.c"), program);
  const char* chosen = std::getenv("CC");
  // An emulator may lack the files of a C library.
  const std::vector<std::string> flags =
      under.empty() ? std::vector<std::string>{"-O1"} : std::vector<std::string>{"-O1", "-static"};
  try {
    compile_c({chosen != nullptr ? chosen : "cc", ""}, folder.file("shows.c"), folder.file("shows"), flags);
  } catch (const MachineError& failure) {
    made.shown.why_not = made.control.why_not = failure.what();
    return made;
  }
  made.shown = run_reproducer(folder.file("shows"), under);
  made.control =
      under.empty() ? Reproducer::Run{"it is the kernel itself", 0, ""} : run_reproducer(folder.file("shows"), {});
  return made;
}

Result result_of(const Promise& promise, const ChildResult& child, std::chrono::milliseconds timeout, Results& all) {
  // 3 is the suite's status if it could not test the promise.
  const bool ended = child.end == ChildResult::End::kExited && (child.code == 0 || child.code == 1 || child.code == 3);
  if (const auto said = ended ? read_suite(child.output, promise) : std::nullopt) {
    all.system = said->system;
    Result result = said->result;
    if (result.reproducer) result.reproducer = reproduce(result.reproducer->program, all.under);
    return result;
  }
  Result result;
  result.promise = promise;
  result.without_verdict = true;
  result.detail = "the suite ended without a verdict: " + how_it_ended(child, timeout);
  return result;
}

}  // namespace

std::vector<Promise> list_promises() {
  const ChildResult child = run_child(suite_command({"--list", "--json"}, kLimitS), {});
  if (child.end != ChildResult::End::kExited || child.code != 0) {
    throw MachineError(fmt::format("{} does not run", suite_program()), "build it for this machine");
  }
  return read_promises(child.output);
}

Results test_promises(const std::vector<Promise>& promises, double race_seconds,
                      const std::vector<std::string>& under) {
  Results all;
  all.under = under;
  all.race_seconds = race_seconds;
  remove_left_cgroups(false);
  std::vector<Item> items;
  for (const Promise& promise : promises) {
    Item& item = items.emplace_back();
    item.label = promise.id;
    // A promise without a race takes some milliseconds.
    item.seconds = promise.family == "races" ? race_seconds : 0.02;
    item.measure = [&](const Say&) {
      const std::vector<std::string> words{"--json", "--only", promise.id, "--seconds",
                                           fmt::format("{}", race_seconds)};
      const ChildCommand command = under_command(under, suite_command(words, 2 * kLimitS + race_seconds));
      const ChildResult child = run_child(command, stop_requested);
      if (child.end != ChildResult::End::kExited) remove_left_cgroups(true);
      end_if_stopped();
      all.results.push_back(result_of(promise, child, command.timeout, all));
    };
  }
  all.complete = Experiment("testing promises").run(items);
  return all;
}

}  // namespace zerotax::contract
