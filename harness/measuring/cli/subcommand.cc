#include "cli/subcommand.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "base/nearest.h"
#include "cli/help_format.h"
#include "cli/parser.h"
#include "cli/places.h"
#include "cli/terminal_options.h"
#include "files/output_kind.h"

namespace zerotax {
namespace {

struct Entry {
  const char* name;
  Wing wing;
  const char* summary;
  const char* examples;
  Subcommand::Configure configure;
};

const char* heading_of(Wing wing) {
  switch (wing) {
    case Wing::kAllocator:
      return "What an allocator zeroes";
    case Wing::kProgram:
      return "What zeroing costs a program, and what helps";
    case Wing::kRegression:
      return "Which change did that";
    case Wing::kKernel:
      return "What the kernel does here";
    case Wing::kMeasuring:
      break;
  }
  return "What can be measured";
}

/// The commands that most people need, in the order of a day's work. `zerotax --help` lists these commands first.
constexpr std::array kEveryDay{"study", "thresholds", "record", "advise", "top", "check", "bisect", "cow"};

std::size_t place_of(const Entry& entry) {
  const auto* const found = std::find(kEveryDay.begin(), kEveryDay.end(), std::string_view(entry.name));
  return static_cast<std::size_t>(found - kEveryDay.begin());
}

const char* heading_of(const Entry& entry) {
  if (entry.summary[0] == '\0') return "";
  return place_of(entry) < kEveryDay.size() ? "Every day" : heading_of(entry.wing);
}

std::vector<Entry>& entries() {
  static std::vector<Entry> all;
  return all;
}

/// Throws UsageError for "--" if the command or verb runs no program, or if no program follows "--".
void check_program(const CLI::App& command) {
  const std::vector<CLI::App*> verbs = command.get_subcommands();
  if (!verbs.empty()) return check_program(*verbs.front());
  const std::vector<std::string>& words = Subcommand::command_line;
  const bool marked = std::find(words.begin(), words.end(), "--") != words.end();
  // after help, -- may be part of a command line to complete
  if (!marked || command.get_name() == "help") return;
  if (!runs_program(command)) {
    throw UsageError(called(command) + " does not run a program, but -- is given",
                     "leave out -- and everything after it");
  }
  if (Subcommand::program_words().empty()) {
    throw UsageError("no command is given after --",
                     fmt::format("add a command, as in {} -- PROGRAM", called(command)));
  }
}

/// Adds --force to a command or verb that writes files.
void add_force_option(Arguments& arguments) {
  const auto options =
      arguments.app().get_options([](const CLI::Option* each) { return is_output_option(each->get_name()); });
  if (options.empty() || arguments.app().get_option_no_throw("--force") != nullptr) return;
  arguments.flag("--force", output_rules().force, "let an output replace a file that zerotax did not write").common();
}

/// bless and check have a --force of their own with a longer description.
bool is_forced(const CLI::App& command) {
  const CLI::Option* option = command.get_option_no_throw("--force");
  return output_rules().force || (option != nullptr && option->count() > 0);
}

/// Whether the command is useful in a virtual machine in which nothing else runs.
bool takes_machine(const Entry& entry) {
  const std::string name = entry.name;
  return entry.wing != Wing::kMeasuring && name != "findings" && name != "report" && name != "top";
}

std::vector<CLI::App*> verbs_of(CLI::App& command) {
  return command.get_subcommands([](const CLI::App*) { return true; });
}

/// Checks the second word of a command that has verbs.
void check_verb(const CLI::App& command) {
  std::vector<std::string> verbs;
  for (const CLI::App* verb : command.get_subcommands([](const CLI::App*) { return true; })) {
    verbs.push_back(verb->get_name());
  }
  if (verbs.empty()) return;
  const std::vector<std::string>& words = Subcommand::command_line;
  const std::string word = words.size() > 2 ? words[2] : "";
  if (word == "-h" || word == "--help" || std::find(verbs.begin(), verbs.end(), word) != verbs.end()) return;
  if (word.empty()) {
    throw UsageError(fmt::format("zerotax {} needs a verb", command.get_name()), choices_text(verbs));
  }
  refuse_word(fmt::format("invalid verb '{}' of zerotax {}", word, command.get_name()), word, verbs);
}

/// Adding the options of all commands takes a third of the run time of a short command. Only help needs the options of
/// commands that were not named.
bool needs_options(const Entry& entry) {
  const std::vector<std::string>& words = Subcommand::command_line;
  return words.size() > 1 && (words[1] == entry.name || words[1] == "help");
}

/// Adds the options of a command and its verbs. Returns the function to call once the options are parsed.
std::function<ExitStatus()> add_options(const Entry& entry, CLI::App& command) {
  Arguments arguments(command);
  auto work = entry.configure(arguments);
  const std::vector<CLI::App*> verbs = verbs_of(command);
  for (CLI::App* verb : verbs) {
    verb->group("Subcommands");
    Arguments of_verb(*verb);
    add_force_option(of_verb);
    add_colour_option(of_verb);
    add_full_option(of_verb);
  }
  add_force_option(arguments);
  if (!verbs.empty()) return work;
  add_colour_option(arguments);
  add_full_option(arguments);
  if (takes_machine(entry) && command.get_option_no_throw("--on") == nullptr) add_machine_option(arguments);
  return work;
}

}  // namespace

std::vector<std::string> Subcommand::command_line;

Subcommand::Subcommand(const char* name, Wing wing, const char* summary, const char* examples, Configure configure) {
  entries().push_back({name, wing, summary, examples, configure});
}

void Subcommand::add_all(CLI::App& app, ExitStatus& status) {
  std::sort(entries().begin(), entries().end(), [](const Entry& a, const Entry& b) {
    return std::tuple(place_of(a), a.wing, std::string_view(a.name)) <
           std::tuple(place_of(b), b.wing, std::string_view(b.name));
  });
  for (const Entry& entry : entries()) {
    CLI::App* command = app.add_subcommand(entry.name, entry.summary);
    command->footer(std::string("Examples:\n") + entry.examples);
    command->group(heading_of(entry));
    if (!needs_options(entry)) continue;
    const auto work = add_options(entry, *command);
    command->callback([work, command, &status] {
      check_program(*command);
      Arguments(*command).check_rules();
      output_rules() = {command->get_name(), is_forced(*command)};
      const auto elsewhere = run_on_machine(*command);
      status = elsewhere ? static_cast<ExitStatus>(*elsewhere) : work();
    });
  }
}

void Subcommand::check_first_word(const CLI::App& app) {
  if (command_line.size() < 2) return;
  const std::string& word = command_line[1];
  if (word.starts_with("--version=") || word.starts_with("--help=")) {
    const auto equals = word.find('=');
    throw UsageError(fmt::format("{} takes no value ('{}')", word.substr(0, equals), word.substr(equals + 1)),
                     "give it alone");
  }
  if (word == "--version" && command_line.size() > 2) {
    throw UsageError(fmt::format("unexpected '{}' after --version", command_line[2]), "give it alone");
  }
  const std::vector<std::string> options{"--help", "-h", "--version"};
  if (std::find(options.begin(), options.end(), word) != options.end()) return;
  if (word.starts_with('-') && word != "--") {
    throw UsageError("unknown option '" + word + "'",
                     fmt::format("{}start with a command (see `zerotax --help`)", did_you_mean(word, options)));
  }
  std::vector<std::string> names;
  for (const Entry& entry : entries()) {
    if (word == entry.name) return check_verb(*app.get_subcommand(word));
    if (entry.summary[0] != '\0') names.emplace_back(entry.name);
  }
  std::sort(names.begin(), names.end());
  throw UsageError("unknown command '" + word + "'",
                   fmt::format("{}{} (see `zerotax --help`)", did_you_mean(word, names), choices_text(names)));
}

std::vector<std::string> Subcommand::own_words() {
  if (command_line.empty()) return {};
  const auto mark = std::find(command_line.begin(), command_line.end(), "--");
  if (mark == command_line.begin()) return {};
  return {command_line.begin() + 1, mark};
}

std::string Subcommand::named_command(const CLI::App& app) {
  std::string name = "zerotax";
  const CLI::App* command = &app;
  for (std::size_t i = 1; i < command_line.size(); ++i) {
    const auto found =
        command->get_subcommands([&](const CLI::App* each) { return each->get_name() == command_line[i]; });
    if (found.empty()) break;
    command = found.front();
    name += " " + command->get_name();
  }
  return name;
}

std::vector<std::string> Subcommand::program_words() {
  const auto mark = std::find(command_line.begin(), command_line.end(), "--");
  return mark == command_line.end() ? std::vector<std::string>{}
                                    : std::vector<std::string>{mark + 1, command_line.end()};
}

}  // namespace zerotax
