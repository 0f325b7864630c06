#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/names.h"
#include "base/shell.h"
#include "baseline/document.h"
#include "baseline/options.h"
#include "baseline/result.h"
#include "baseline/table.h"
#include "cli/terminal_options.h"
#include "files/document.h"
#include "files/output_file.h"
#include "os/input_file.h"
#include "os/print.h"
#include "run/allocators.h"
#include "run/experiment.h"
#include "run/program_launch.h"
#include "run/wait_lock.h"

namespace zerotax::baseline {
namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

/// Returns the commands to run: one for each recording if the words are several recordings, otherwise one command of
/// all words. Throws UsageError if a recording is followed by a word that is not a recording, and for --name with
/// several recordings.
std::vector<Words> commands_of(const Options& options, const Words& words) {
  if (words.size() < 2 || !is_recording(words.front())) return {words};
  if (!options.name.empty()) {
    throw UsageError(
        fmt::format("--name {} names one recording, but {} recordings are given", options.name, words.size()),
        "leave out --name: each recording has the name of its file");
  }
  std::vector<Words> commands;
  std::set<std::string> names;
  for (const std::string& word : words) {
    if (!is_recording(word)) {
      throw UsageError(
          fmt::format("'{}' is not a recording, but '{}' is a recording and takes no arguments", word, words.front()),
          "give recordings only, or one command");
    }
    if (!names.insert(file_name(word)).second) {
      throw UsageError(fmt::format("two recordings are named '{}'", file_name(word)), "rename one of the two files");
    }
    commands.push_back({word});
  }
  return commands;
}

/// Returns the target of a command, and makes every check that needs no run. The target has the variables of the
/// command line. If the command line has no variables, subject_of() adds the variables of the baseline.
runs::Target target_of(const Options& options, const Words& words) {
  const Words& allocators = options.measure.allocators;
  if (allocators.size() > 1) {
    throw UsageError(fmt::format("a command runs under one allocator, but {} are given", allocators.size()),
                     "give one --allocator");
  }
  runs::Target target =
      runs::target_for(words, options.name, options.measure.timeout_s, allocators.empty() ? "" : allocators.front());
  for (const std::string& word : options.measure.env) {
    const EnvWord parsed = parse_env_word(word);
    if (parsed.allocator != target.name) {
      throw UsageError(fmt::format("--env names '{}', which is not the name of the command", parsed.allocator),
                       fmt::format("give --env {}:{}={}", target.name, parsed.key, parsed.value));
    }
    add_setting(parsed, target);
  }
  target.resident = options.resident;
  return target;
}

Program* program_in(std::vector<Program>& programs, const std::string& name) {
  const auto found =
      std::find_if(programs.begin(), programs.end(), [&](const Program& each) { return each.name == name; });
  return found == programs.end() ? nullptr : &*found;
}

/// Returns whether two commands are the same, regardless of the folder of the program.
bool is_same_command(std::vector<std::string> one, std::vector<std::string> other) {
  one.front() = file_name(one.front());
  other.front() = file_name(other.front());
  return one == other;
}

/// The runs of a command, with progress.
class Runs {
 public:
  /// `expected` is the number of planned runs. More may follow.
  Runs(const runs::Target& target, std::size_t expected) : target_(target), experiment_("recording " + target.name) {
    experiment_.expect(expected, static_cast<double>(expected));
  }

  /// Returns the next run. Throws Stop, and any error that run_once throws.
  runs::CommandRun next() {
    runs::CommandRun run;
    Item item;
    item.measure = [&](const Say&) { run = runs::run_once(target_); };
    if (!experiment_.run({item})) throw Stop{};
    return run;
  }

 private:
  const runs::Target& target_;
  Experiment experiment_;
};

std::string accept_words(const runs::Target& target, const std::string& baseline, bool force) {
  std::vector<std::string> words{"zerotax", "bless", "--baseline", baseline};
  if (target.name != file_name(target.command.front())) words.insert(words.end(), {"--name", target.name});
  for (const auto& [key, value] : target.env) {
    words.insert(words.end(), {"--env", fmt::format("{}:{}={}", target.name, key, value)});
  }
  if (!target.allocator.empty()) words.insert(words.end(), {"--allocator", target.allocator});
  if (target.resident) words.emplace_back("--resident");
  if (force) words.emplace_back("--force");
  words.emplace_back("--");
  words.insert(words.end(), target.recorded.words.begin(), target.recorded.words.end());
  return shell_text(words);
}

[[noreturn]] void refuse_other(const Program& there, const runs::Target& target, const std::string& path,
                               const std::string& remedy) {
  throw UsageError(fmt::format("'{}' in {} names another command: {}, not {}", target.name, path, command_text(there),
                               command_text(target)),
                   remedy);
}

/// Returns the programs of the baseline to which a command will be added. Throws UsageError if the file is not a
/// baseline of programs, or has a different command with this name.
std::vector<Program> baseline_to_extend(const runs::Target& target, const std::string& path, bool force) {
  std::error_code failure;
  if (fs::is_directory(path, failure)) throw UsageError(path + " is a folder", "give --baseline a file");
  if (!fs::is_regular_file(path, failure) || fs::file_size(path, failure) == 0) return {};
  std::vector<Program> programs;
  try {
    programs = read_programs(path);
  } catch (const UsageError&) {
    if (force) return {};
    throw UsageError(fmt::format("{} exists and is not a baseline of programs: not overwritten", path),
                     "give --baseline another file, or overwrite this one with --force");
  }
  const Program* there = program_in(programs, target.name);
  const bool differs =
      there != nullptr && (!is_same_command(there->command, target.command) || there->env != target.env);
  if (differs && !force)
    refuse_other(*there, target, path, "give --name NAME, or overwrite the stored command with --force");
  return programs;
}

const Program& program_to_check(std::vector<Program>& programs, const runs::Target& target, const std::string& path) {
  const Program* program = program_in(programs, target.name);
  if (program == nullptr) {
    std::vector<std::string> names;
    names.reserve(programs.size());
    for (const Program& each : programs) names.push_back(each.name);
    throw UsageError(
        fmt::format("{} has no command '{}' (it has {})", path, target.name, fmt::join(names, ", ")),
        "give another name with --name NAME, or add the command with: " + accept_words(target, path, false));
  }
  if (!is_same_command(program->command, target.command)) {
    refuse_other(
        *program, target, path,
        "give another name with --name NAME, or accept this command with: " + accept_words(target, path, true));
  }
  return *program;
}

void bless_one(const runs::Target& target, const Options& options) {
  std::vector<std::string> notes;
  const Program program = [&] {
    const auto most = static_cast<std::uint64_t>(options.rounds);
    Runs runs(target, gather_runs(most));
    return measured(target, {most, options.allow_failing, &notes}, [&] { return runs.next(); });
  }();
  // Reads the baseline again under the lock, because another command may have changed it in the meantime.
  const UniqueFd lock = wait_for_folder_lock(options.baseline);
  std::vector<Program> programs = baseline_to_extend(target, options.baseline, options.force);
  if (Program* there = program_in(programs, program.name)) {
    *there = program;
  } else {
    programs.push_back(program);
  }
  write_file(options.baseline, json_text(document_of(Programs{programs})));
  print_lines(stdout, bless_text(program, notes, options.baseline));
}

/// A command, and the program in the baseline with which the command is compared.
struct ProgramSubject {
  runs::Target target;
  Program blessed;
  bool other_settings = false;  ///< whether --env gives settings other than those of the baseline
};

ProgramSubject subject_of(const Options& options, const Words& words) {
  ProgramSubject subject;
  runs::Target& target = subject.target;
  target = target_of(options, words);
  std::error_code failure;
  if (!fs::exists(options.baseline, failure)) {
    throw UsageError(fmt::format("there is no baseline {}", options.baseline),
                     "check the path, or make the baseline with: " + accept_words(target, options.baseline, false));
  }
  std::vector<Program> programs = read_programs(options.baseline);
  subject.blessed = program_to_check(programs, target, options.baseline);
  target.resident = !is_empty(subject.blessed.metrics[runs::Metric::kResidentAtEnd]);
  if (options.measure.env.empty()) {
    announce_variables(options.baseline, target.name, subject.blessed.env,
                       fmt::format("to set the variables yourself, give --env {}:KEY=VALUE", target.name));
    target.env = subject.blessed.env;
  }
  subject.other_settings = subject.blessed.env != target.env;
  return subject;
}

ProgramCheck check_one(const ProgramSubject& subject, const std::string& path, bool strict) {
  const runs::Target& target = subject.target;
  const Program& blessed = subject.blessed;
  Judged judged = [&] {
    Runs runs(target, 1);
    return judge(blessed, [&] {
      runs::CommandRun run = runs.next();
      check_exit_status(run, target.name, blessed.exit_status,
                        "find out why the command ended differently when its baseline was made");
      return run;
    });
  }();
  const ProgramConditions measured_on = conditions_now(judged.first.allocator);
  ProgramCheck check = check_of(blessed, std::move(judged), measured_on, "as in the baseline");
  check.subject = target;
  check.baseline.path = path;
  if (subject.other_settings) {
    check.conditions.push_back({"settings", "", "", false, "settings: different from those of the baseline (--env)"});
    check.condition_sentences.push_back(check.conditions.back().sentence);
  }
  check.strict = strict;
  check.passed = passes(check.verdict, strict);
  check.accept = accept_words(target, path, subject.other_settings);
  return check;
}

/// Shows the check of a single command (`alone`), or all checks of several commands.
ExitStatus report(std::vector<ProgramCheck> results, bool alone, const Options& options) {
  const Palette palette = palette_for(stdout);
  const bool full = options.explain || wants_full_text();
  const auto text_of = [&](const auto& found) {
    return full ? check_text(found, options.explain, palette) : answer_text(check_answer(found, palette));
  };
  if (!alone) {
    const ProgramChecks all = checks_of(std::move(results));
    options.exchange.publish(check_outcomes(all), document_of(all), text_of(all));
    return all.passed ? ExitStatus::kDone : ExitStatus::kFinding;
  }
  const ProgramCheck& check = results.front();
  options.exchange.publish(check_outcomes(check), check, text_of(check));
  if (full && check.verdict != Verdict::kSame) say_next(check.accept);
  return check.passed ? ExitStatus::kDone : ExitStatus::kFinding;
}

}  // namespace

ExitStatus bless_programs(const Options& options, const Words& words) {
  std::vector<runs::Target> targets;
  for (const Words& each : commands_of(options, words)) {
    targets.push_back(target_of(options, each));
    check_outputs({{"--baseline", options.baseline}}, program_input(each));
    baseline_to_extend(targets.back(), options.baseline, options.force);
  }
  for (const runs::Target& target : targets) bless_one(target, options);
  return ExitStatus::kDone;
}

ExitStatus check_programs(const Options& options, const Words& words) {
  std::vector<ProgramSubject> subjects;
  std::vector<NamedPath> inputs{{"--baseline", options.baseline}};
  for (const Words& each : commands_of(options, words)) {
    subjects.push_back(subject_of(options, each));
    for (NamedPath& input : program_input(each)) inputs.push_back(std::move(input));
  }
  const std::vector<NamedPath> outputs = options.exchange.outputs();
  const bool page = std::any_of(outputs.begin(), outputs.end(),
                                [](const NamedPath& out) { return out.option == "--html" && !out.path.empty(); });
  if (page && subjects.size() > 1) {
    throw UsageError("the page of --html shows one command, but several are given",
                     "leave out --html, or check each command separately");
  }
  check_outputs(outputs, inputs);
  options.exchange.check_page();
  return check_each(
      subjects, [&](const ProgramSubject& subject) { return check_one(subject, options.baseline, options.strict); },
      [&](std::vector<ProgramCheck> results) { return report(std::move(results), subjects.size() == 1, options); });
}

}  // namespace zerotax::baseline
