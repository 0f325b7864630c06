#include "programs/programs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/names.h"
#include "base/shell.h"
#include "cli/colour.h"
#include "cli/next_step.h"
#include "cli/subcommand.h"
#include "files/output_file.h"
#include "files/output_paths.h"
#include "os/input_file.h"
#include "programs/document.h"
#include "programs/measure.h"
#include "programs/review.h"
#include "programs/table.h"
#include "programs/verdict.h"
#include "run/allocators.h"
#include "run/experiment.h"
#include "run/interrupt.h"
#include "run/program_launch.h"

namespace zerotax::programs {
namespace {

namespace fs = std::filesystem;

/// The target of a request. Checks what can be checked without running anything. Its variables are those of the command
/// line: check() takes those of the baseline where the command line has none.
Target target_of(const Request& request) {
  if (request.allocators.size() > 1) {
    throw UsageError(fmt::format("a command runs under one allocator, but {} are given", request.allocators.size()),
                     "give one --allocator");
  }
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
  words.insert(words.end(), target.command.begin(), target.command.end());
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

ExitStatus bless(const Request& request, std::int64_t rounds, bool allow_failing, bool force) {
  const Target target = target_of(request);
  check_outputs({{"--baseline", request.baseline}}, program_input(request.words));
  Baseline baseline = baseline_to_extend(target, request.baseline, force);
  std::vector<std::string> notes;
  const Program program = [&] {
    const auto most = static_cast<std::uint64_t>(rounds);
    Runs runs(target, gather_runs(most));
    return measured(target, {most, allow_failing, &notes}, [&] { return runs.next(); });
  }();
  if (Program* there = program_in(baseline, program.name)) {
    *there = program;
  } else {
    baseline.programs.push_back(program);
  }
  write_file(request.baseline, json_text(baseline_json(baseline)));
  fmt::print("{}", bless_text(program, notes, request.baseline));
  return ExitStatus::kDone;
}

ExitStatus check(const Request& request, bool strict, bool explain, const ExchangeOptions& exchange) {
  Target target = target_of(request);
  std::error_code failure;
  if (!fs::exists(request.baseline, failure)) {
    throw UsageError(fmt::format("there is no baseline {}", request.baseline),
                     "check the path, or make it with: " + accept_words(target, request.baseline, false));
  }
  Baseline baseline = read_baseline(request.baseline);
  const Program& blessed = program_to_check(baseline, target, request.baseline);
  if (request.env.empty()) target.env = blessed.env;
  std::vector<NamedPath> inputs = program_input(request.words);
  inputs.push_back({"--baseline", request.baseline});
  check_outputs(exchange.outputs(), inputs);
  exchange.check_page();

  Judged judged = [&] {
    Runs runs(target, 1);
    return judge(blessed, [&] {
      CommandRun run = runs.next();
      check_exit_status(run, target.name, blessed.exit_status,
                        "find out why: it ended otherwise when its baseline was made");
      return run;
    });
  }();
  const Conditions measured_on = conditions_now(judged.first.allocator);
  Check check = check_of(blessed, std::move(judged), measured_on, "as in the baseline");
  check.subject = target;
  check.baseline_path = request.baseline;
  if (blessed.env != target.env) check.conditions.emplace_back("settings: others before than now (--env)");
  check.strict = strict;
  check.passed = check.passed && (!strict || check.verdict == Verdict::kSame);
  check.accept = accept_words(target, request.baseline, blessed.env != target.env);

  const exchange::OutcomeList outcomes = check_outcomes(check);
  if (!exchange.silent()) fmt::print("{}", check_text(check, explain, palette_for(stdout)));
  exchange.print_annotations(outcomes);
  exchange.write(outcomes, check_json(check));
  if (check.verdict != Verdict::kSame) say_next(check.accept);
  return check.passed ? ExitStatus::kDone : ExitStatus::kFinding;
}

}  // namespace zerotax::programs
