// The lines of JSON that zerotax-contract prints, one for the system and one for each promise.
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
#include "contract/promise.h"
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

/// What the suite says of one promise that it was asked about.
struct SuiteAnswer {
  System system;
  Result result;  ///< what is broken comes with a program that was not run
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

Verdict verdict_of(const std::string& word) {
  for (const Verdict verdict : {Verdict::kKept, Verdict::kBroken, Verdict::kUnsupported}) {
    if (word == word_of(verdict)) return verdict;
  }
  return Verdict::kNotTestable;
}

System system_of(const Json& head) {
  return {head.at("system"), head.at("kernel"), head.at("machine"), head.at("page_bytes"), head.at("user_id")};
}

/// A line of the suite's; what is broken comes with a program that was not run.
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
    const Reproducer::Run elsewhere{"the promise was tested elsewhere: run it there", 0, ""};
    result.reproducer = Reproducer{line.at("program"), elsewhere, elsewhere};
  }
  return result;
}

/// Its lines, each an object; the last one may be cut off.
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

/// The promises in what `zerotax-contract --list --json` printed. Throws a Json exception or JsonTextError.
std::vector<Promise> read_promises(const std::string& output) {
  std::vector<Promise> all;
  for (const Json& line : lines_of(output)) all.push_back(promise_of(line));
  return all;
}

/// What `zerotax-contract --json --only ID` printed; nothing if it ended without a verdict.
std::optional<SuiteAnswer> read_suite(const std::string& output, const Promise& promise) {
  const std::vector<Json> lines = lines_of(output);
  if (lines.size() != 2) return std::nullopt;
  return SuiteAnswer{system_of(lines[0]), result_of(promise, lines[1])};
}

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

Results read_results(const std::string& path) {
  const auto foreign = [&] {
    return UsageError(fmt::format("'{}' is not what zerotax-contract --json prints", path),
                      "run zerotax-contract --json there, and give the file with what it printed");
  };
  try {
    const std::vector<Json> lines = lines_of(read_input_file(path));
    if (lines.empty() || text_field(lines[0], "suite", "") != "zerotax-contract/1") throw foreign();
    Results all;
    all.system = system_of(lines[0]);
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

const char* word_of(Verdict verdict) {
  constexpr const char* kWords[] = {"kept", "broken", "unsupported", "not testable here"};
  return kWords[static_cast<std::size_t>(verdict)];
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
