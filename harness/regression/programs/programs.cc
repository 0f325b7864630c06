#include "programs/programs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/names.h"
#include "base/shell.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "files/output_file.h"
#include "os/input_file.h"
#include "os/print.h"
#include "programs/document.h"
#include "programs/gather.h"
#include "programs/table.h"
#include "programs/verdict.h"
#include "run/allocators.h"
#include "run/experiment.h"
#include "run/interrupt.h"
#include "run/program_launch.h"
#include "run/wait_lock.h"

namespace zerotax::programs {
namespace {

namespace fs = std::filesystem;

/// Of several recordings, a request for each; otherwise the request. Throws UsageError for other arguments of a
/// recording, and for one name of several.
std::vector<Request> each_of(const Request& request) {
  if (request.words.size() < 2 || !is_recording(request.words.front())) return {request};
  if (!request.name.empty()) {
    throw UsageError(
        fmt::format("--name {} is for one recording, but {} are given", request.name, request.words.size()),
        "leave it out: each has the name of its file");
  }
  std::vector<Request> requests;
  std::set<std::string> names;
  for (const std::string& word : request.words) {
    if (!is_recording(word)) {
      throw UsageError(
          fmt::format("'{}' is no recording, but '{}' is one, and takes no arguments", word, request.words.front()),
          "give recordings only, or one command");
    }
    if (!names.insert(file_name(word)).second) {
      throw UsageError(fmt::format("two recordings are named '{}'", file_name(word)), "rename one of them");
    }
    requests.push_back(request);
    requests.back().words = {word};
  }
  return requests;
}

/// The target of a request. Checks what can be checked without running anything. Its variables are those of the command
/// line: check() takes those of the baseline where the command line has none.
Target target_of(const Request& request) {
  if (request.allocators.size() > 1) {
    throw UsageError(fmt::format("a command runs under one allocator, but {} are given", request.allocators.size()),
                     "give one --allocator");
  }
  Target target = target_for(request.words, request.name, request.timeout_s,
                             request.allocators.empty() ? "" : request.allocators.front());
  for (const std::string& word : request.env) {
    const EnvWord parsed = parse_env_word(word);
    if (parsed.allocator != target.name) {
      throw UsageError(fmt::format("--env names '{}', which is not the command", parsed.allocator),
                       fmt::format("give --env {}:{}={}", target.name, parsed.key, parsed.value));
    }
    add_setting(parsed, target);
  }
  return target;
}

Program* program_in(Baseline& baseline, const std::string& name) {
  const auto found = std::find_if(baseline.programs.begin(), baseline.programs.end(),
                                  [&](const Program& each) { return each.name == name; });
  return found == baseline.programs.end() ? nullptr : &*found;
}

/// Whether it is the same command, in whichever folder its program was built.
bool is_same_command(std::vector<std::string> one, std::vector<std::string> other) {
  one.front() = file_name(one.front());
  other.front() = file_name(other.front());
  return one == other;
}

/// The runs of a command, with progress.
class Runs {
 public:
  /// `expected`: runs, of which more may follow.
  Runs(const Target& target, std::size_t expected) : target_(target), experiment_("recording " + target.name) {
    experiment_.expect(expected, static_cast<double>(expected));
  }

  /// Throws Stop, and what run_once throws.
  CommandRun next() {
    CommandRun run;
    Item item;
    item.measure = [&](const Say&) { run = run_once(target_); };
    if (!experiment_.run({item})) throw Stop{};
    return run;
  }

 private:
  const Target& target_;
  Experiment experiment_;
};

std::string accept_words(const Target& target, const std::string& baseline, bool force) {
  std::vector<std::string> words{"zerotax", "bless", "--baseline", baseline};
  if (target.name != file_name(target.command.front())) words.insert(words.end(), {"--name", target.name});
  for (const auto& [key, value] : target.env) {
    words.insert(words.end(), {"--env", fmt::format("{}:{}={}", target.name, key, value)});
  }
  if (!target.allocator.empty()) words.insert(words.end(), {"--allocator", target.allocator});
  if (force) words.emplace_back("--force");
  words.emplace_back("--");
  words.insert(words.end(), target.recorded.words.begin(), target.recorded.words.end());
  return shell_text(words);
}

[[noreturn]] void refuse_other(const Program& there, const Target& target, const std::string& path,
                               const std::string& remedy) {
  throw UsageError(fmt::format("'{}' in {} is another command: {}, not {}", target.name, path, command_text(there),
                               command_text(target)),
                   remedy);
}

/// The baseline that a command will be added to. Throws UsageError unless that is one of programs, and has no other
/// command of this name.
Baseline baseline_to_extend(const Target& target, const std::string& path, bool force) {
  std::error_code failure;
  if (fs::is_directory(path, failure)) throw UsageError(path + " is a folder", "give --baseline a file");
  if (!fs::is_regular_file(path, failure) || fs::file_size(path, failure) == 0) return {};
  Baseline baseline;
  try {
    baseline = read_baseline(path);
  } catch (const UsageError&) {
    if (force) return {};
    throw UsageError(fmt::format("{} exists and is no baseline of programs: not overwritten", path),
                     "give --baseline another file, or overwrite it with --force");
  }
  const Program* there = program_in(baseline, target.name);
  const bool differs =
      there != nullptr && (!is_same_command(there->command, target.command) || there->env != target.env);
  if (differs && !force) refuse_other(*there, target, path, "give --name NAME, or overwrite it with --force");
  return baseline;
}

const Program& program_to_check(Baseline& baseline, const Target& target, const std::string& path) {
  const Program* program = program_in(baseline, target.name);
  if (program == nullptr) {
    std::vector<std::string> names;
    for (const Program& each : baseline.programs) names.push_back(each.name);
    throw UsageError(fmt::format("{} has no command '{}' (it has {})", path, target.name, fmt::join(names, ", ")),
                     "give --name NAME, or add it with: " + accept_words(target, path, false));
  }
  if (!is_same_command(program->command, target.command)) {
    refuse_other(*program, target, path,
                 "give --name NAME, or accept this one with: " + accept_words(target, path, true));
  }
  return *program;
}

}  // namespace

std::vector<std::string> command_words(const Arguments& arguments, const std::vector<std::string>& of_allocators,
                                       const std::vector<std::string>& of_commands) {
  std::vector<std::string> words = Subcommand::program_words();
  for (const std::string& option : words.empty() ? of_commands : of_allocators) {
    if (!arguments.find(option).given()) continue;
    if (words.empty()) {
      throw UsageError(
          fmt::format("{} is for a command, but none is given", option),
          fmt::format("leave it out, or add -- and the command: zerotax {} ... -- COMMAND", arguments.name()));
    }
    throw UsageError(fmt::format("{} is for an allocator, but a command is given after --", option),
                     fmt::format("leave out {}, or -- and everything after it", option));
  }
  return words;
}

void add_name(Arguments& arguments, std::string& name) {
  arguments.option("--name", name, "of a command: its name (default: that of its file)").shown_as("NAME").word();
}

namespace {

void bless_one(const Target& target, const std::string& path, std::int64_t rounds, bool allow_failing, bool force) {
  std::vector<std::string> notes;
  const Program program = [&] {
    const auto most = static_cast<std::uint64_t>(rounds);
    Runs runs(target, gather_runs(most));
    return measured(target, {most, allow_failing, &notes}, [&] { return runs.next(); });
  }();
  // Under the lock, the baseline is read again, because another command may have changed it since.
  const UniqueFd lock = wait_for_folder_lock(path);
  Baseline baseline = baseline_to_extend(target, path, force);
  if (Program* there = program_in(baseline, program.name)) {
    *there = program;
  } else {
    baseline.programs.push_back(program);
  }
  write_file(path, json_text(baseline_json(baseline)));
  print_lines(stdout, bless_text(program, notes, path));
}

/// A command, and what it is compared with.
struct Subject {
  Target target;
  Program blessed;
  bool other_settings = false;  ///< --env, and others than in the baseline
};

Subject subject_of(const Request& request) {
  Subject subject;
  Target& target = subject.target;
  target = target_of(request);
  std::error_code failure;
  if (!fs::exists(request.baseline, failure)) {
    throw UsageError(fmt::format("there is no baseline {}", request.baseline),
                     "check the path, or make it with: " + accept_words(target, request.baseline, false));
  }
  Baseline baseline = read_baseline(request.baseline);
  subject.blessed = program_to_check(baseline, target, request.baseline);
  if (request.env.empty()) {
    announce_variables(request.baseline, target.name, subject.blessed.env,
                       fmt::format("to set it yourself, give --env {}:KEY=VALUE", target.name));
    target.env = subject.blessed.env;
  }
  subject.other_settings = subject.blessed.env != target.env;
  return subject;
}

Check check_one(const Subject& subject, const std::string& path, bool strict) {
  const Target& target = subject.target;
  const Program& blessed = subject.blessed;
  Judged judged = [&] {
    Runs runs(target, 1);
    return judge(blessed, [&] {
      CommandRun run = runs.next();
      check_exit_status(run, target.name, blessed.exit_status,
                        "find out why: it ended otherwise when its baseline was made");
      return run;
    });
  }();
  const Json measured_on = conditions_now(judged.first.allocator);
  Check check = check_of(blessed, std::move(judged), measured_on, "as in the baseline");
  check.subject = target;
  check.baseline_path = path;
  if (subject.other_settings) {
    check.conditions.push_back({"settings", "", "", false, "settings: others before than now (--env)"});
  }
  check.strict = strict;
  check.passed = passes(check.verdict, strict);
  check.accept = accept_words(target, path, subject.other_settings);
  return check;
}

ExitStatus report(const Check& check, bool explain, const ExchangeOptions& exchange) {
  exchange.publish(check_outcomes(check), check_json(check), check_text(check, explain, palette_for(stdout)));
  if (check.verdict != Verdict::kSame) say_next(check.accept);
  return check.passed ? ExitStatus::kDone : ExitStatus::kFinding;
}

ExitStatus report(const Checks& checks, bool explain, const ExchangeOptions& exchange) {
  exchange.publish(checks_outcomes(checks), checks_json(checks), checks_text(checks, explain, palette_for(stdout)));
  return checks.passed ? ExitStatus::kDone : ExitStatus::kFinding;
}

}  // namespace

ExitStatus bless(const Request& request, std::int64_t rounds, bool allow_failing, bool force) {
  std::vector<Target> targets;
  for (const Request& each : each_of(request)) {
    targets.push_back(target_of(each));
    check_outputs({{"--baseline", each.baseline}}, program_input(each.words));
    baseline_to_extend(targets.back(), each.baseline, force);
  }
  for (const Target& target : targets) bless_one(target, request.baseline, rounds, allow_failing, force);
  return ExitStatus::kDone;
}

ExitStatus check(const Request& request, bool strict, bool explain, const ExchangeOptions& exchange) {
  std::vector<Subject> subjects;
  std::vector<NamedPath> inputs{{"--baseline", request.baseline}};
  for (const Request& each : each_of(request)) {
    subjects.push_back(subject_of(each));
    for (NamedPath& input : program_input(each.words)) inputs.push_back(std::move(input));
  }
  const std::vector<NamedPath> outputs = exchange.outputs();
  const bool page = std::any_of(outputs.begin(), outputs.end(),
                                [](const NamedPath& out) { return out.option == "--html" && !out.path.empty(); });
  if (page && subjects.size() > 1) {
    throw UsageError("the page of --html shows one command, but several are given",
                     "leave out --html, or check them one by one");
  }
  check_outputs(outputs, inputs);
  exchange.check_page();
  std::vector<Check> checks;
  try {
    for (const Subject& subject : subjects) checks.push_back(check_one(subject, request.baseline, strict));
  } catch (const Stop&) {
    if (checks.empty()) throw;
    report(checks_of(std::move(checks)), explain, exchange);
    say_interrupted();
    return ExitStatus::kDone;
  }
  if (checks.size() == 1) return report(checks.front(), explain, exchange);
  return report(checks_of(std::move(checks)), explain, exchange);
}

}  // namespace zerotax::programs
