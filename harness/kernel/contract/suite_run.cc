// Reads the lines of JSON that zerotax-contract prints: one for the system, and one for each promise.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "contract/result.h"
#include "files/folders.h"
#include "files/output_file.h"
#include "os/child.h"
#include "os/input_file.h"
#include "os/process_info.h"
#include "os/test_hook.h"
#include "run/allocators.h"
#include "run/experiment.h"
#include "run/helper_program.h"
#include "run/interrupt.h"
#include "run/program_launch.h"

namespace zerotax::contract {
namespace {

ProgramRun not_run(const std::string& why) { return {NotAvailable{why}, NotAvailable{why}, ""}; }

/// The suite's answer about one promise.
struct SuiteAnswer {
  System system;
  Result result;  ///< the program of a broken promise was not run yet
};

std::vector<Reliance> reliances(const std::string& text) {
  std::vector<Reliance> all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find("; ", at), text.size());
    const std::string one = text.substr(at, end - at);
    const std::size_t colon = one.find(": ");
    all.push_back(colon == std::string::npos ? Reliance{one, ""}
                                             : Reliance{one.substr(0, colon), one.substr(colon + 2)});
    at = end + 2;
  }
  return all;
}

Promise promise_of(const Json& line) {
  return {line.at("id"), line.at("family"), line.at("statement"), reliances(line.at("relied_on_by"))};
}

Verdict verdict_of(const std::string& name) {
  for (const Verdict verdict : {Verdict::kKept, Verdict::kBroken, Verdict::kUnsupported}) {
    if (name == word(verdict)) return verdict;
  }
  return Verdict::kNotTestable;
}

/// Reads a line of the suite. Does not run the program of a broken promise.
Result result_of(const Promise& promise, const Json& line) {
  Result result;
  result.promise = promise;
  result.verdict = verdict_of(line.at("verdict"));
  result.detail = line.at("detail");
  result.error = text_field(line, "error", "");
  result.seconds = line.at("seconds");
  if (line.contains("tries")) result.tries = line.at("tries").get<std::uint64_t>();
  if (line.contains("found")) {
    result.evidence = Evidence{line.at("address"), line.at("offset"), line.at("expected"), line.at("found")};
  }
  if (result.verdict == Verdict::kBroken) {
    const ProgramRun elsewhere = not_run("the promise was tested elsewhere: run it there");
    result.reproducer = Reproducer{line.at("program"), elsewhere, elsewhere};
  }
  return result;
}

/// The complete lines of the output, each a JSON object.
std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) break;
    lines.push_back(parse_strict_json(text.substr(at, end - at)));
    at = end + 1;
  }
  return lines;
}

/// Reads the output of `zerotax-contract --list --json`. Throws a Json exception or JsonTextError.
std::vector<Promise> read_promises(const std::string& output) {
  std::vector<Promise> all;
  for (const Json& line : lines_of(output)) all.push_back(promise_of(line));
  return all;
}

/// Reads the output of `zerotax-contract --json --only ID`. Returns no value if the suite ended without a verdict.
std::optional<SuiteAnswer> read_suite(const std::string& output, const Promise& promise) {
  const std::vector<Json> lines = lines_of(output);
  if (lines.size() != 2) return std::nullopt;
  return SuiteAnswer{lines[0].get<System>(), result_of(promise, lines[1])};
}

/// Time limit of one promise, in addition to its race. The suite has a lower limit of its own, and reports the step
/// that hangs.
constexpr double kLimitS = 60;

/// Removes the cgroups of tests that ended without removing them (suite/kernel.c makes them). After a kill (`killed`),
/// the test may need some milliseconds to end, and the kernel some more to empty the cgroup.
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
  // Tests set this to a build of the suite in which system calls lie.
  const char* other = test_hook("ZEROTAX_CONTRACT_SUITE");
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
  if (const char* lie = test_hook("ZEROTAX_CONTRACT_LIE")) {
    command.arguments.insert(command.arguments.end(), {"--lie", lie});
  }
  return command;
}

/// Puts the words of `under` before a command.
ChildCommand under_command(const std::vector<std::string>& under, ChildCommand command) {
  if (under.empty()) return command;
  std::vector<std::string> words(under.begin() + 1, under.end());
  words.push_back(command.program);
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  command.program = resolve_program(under.front());
  command.arguments = std::move(words);
  return command;
}

ProgramRun run_reproducer(const std::string& program, const std::vector<std::string>& under) {
  ChildCommand command;
  command.program = program;
  command.capture = true;
  const ChildResult ran = run_child(under_command(under, command), stop_requested);
  end_if_stopped();
  if (ran.end == ChildResult::End::kExited) return {ran.code, ran.code == 1, ran.output};
  return not_run(ran.end == ChildResult::End::kSignalled ? "the program was killed by " + signal_name(ran.code)
                                                         : "the program did not end within 30 s");
}

Reproducer reproduce(const std::string& program, const std::vector<std::string>& under) {
  Reproducer made;
  made.program = program;
  const TemporaryFolder folder("contract");
  write_file(folder.file("shows.c"), program);
  const char* chosen = std::getenv("CC");
  // Links statically, because an emulator may lack the files of a C library.
  const std::vector<std::string> flags =
      under.empty() ? std::vector<std::string>{"-O1"} : std::vector<std::string>{"-O1", "-static"};
  try {
    compile_c({chosen != nullptr ? chosen : "cc", ""}, folder.file("shows.c"), folder.file("shows"), flags);
  } catch (const MachineError& failure) {
    made.shown = made.control = not_run(failure.what());
    return made;
  }
  made.shown = run_reproducer(folder.file("shows"), under);
  made.control =
      under.empty() ? not_run("the tested kernel is the running kernel") : run_reproducer(folder.file("shows"), {});
  return made;
}

Result result_of(const Promise& promise, const ChildResult& child, std::chrono::milliseconds timeout, Results& all) {
  // The suite exits with status 3 if it could not test the promise.
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

Results read_results(const std::string& path) {
  const auto foreign = [&] {
    return UsageError(fmt::format("'{}' is not the output of zerotax-contract --json", path),
                      "run zerotax-contract --json on that system, and give the file with its output");
  };
  try {
    const std::vector<Json> lines = lines_of(read_input_file(path));
    if (lines.empty() || text_field(lines[0], "suite", "") != "zerotax-contract/1") throw foreign();
    Results all;
    all.system = lines[0].get<System>();
    all.race_seconds = lines[0].at("race_seconds");
    for (std::size_t i = 1; i < lines.size(); ++i) all.results.push_back(result_of(promise_of(lines[i]), lines[i]));
    all.complete = all.results.size() == lines[0].at("promises").get<std::size_t>();
    return all;
  } catch (const Json::exception&) {
    throw foreign();
  } catch (const JsonTextError&) {
    throw foreign();
  }
}

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
    // A promise without a race takes a few milliseconds.
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
