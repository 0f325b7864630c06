#include "cli/subcommand.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"
#include "cli/colour.h"
#include "cli/former_names.h"
#include "cli/parser.h"

namespace zerotax {
namespace {

struct Entry {
  const char* name;
  const char* summary;
  const char* examples;
  Subcommand::Configure configure;
};

std::vector<Entry>& entries() {
  static std::vector<Entry> all;
  return all;
}

/// What follows -- belongs to a program, and not every command runs one.
void check_program(const CLI::App& command) {
  const std::vector<std::string>& words = Subcommand::command_line;
  const bool marked = std::find(words.begin(), words.end(), "--") != words.end();
  // help completes words that stand there.
  if (!marked || command.get_name() == "help") return;
  if (command.get_footer().find(" -- ") == std::string::npos) {
    throw UsageError(fmt::format("zerotax {} does not run a program, but -- is given", command.get_name()),
                     "leave out -- and everything after it");
  }
  if (Subcommand::program_words().empty()) {
    throw UsageError("no command is given after --",
                     fmt::format("add it, as in zerotax {} -- PROGRAM", command.get_name()));
  }
}

std::vector<CLI::App*> verbs_of(CLI::App& command) {
  return command.get_subcommands([](const CLI::App*) { return true; });
}

/// The second word, where a command has verbs.
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

}  // namespace

std::vector<std::string> Subcommand::command_line;

Subcommand::Subcommand(const char* name, const char* summary, const char* examples, Configure configure) {
  entries().push_back({name, summary, examples, configure});
}

void Subcommand::add_all(CLI::App& app, ExitStatus& status) {
  std::sort(entries().begin(), entries().end(),
            [](const Entry& a, const Entry& b) { return std::string_view(a.name) < b.name; });
  for (const Entry& entry : entries()) {
    CLI::App* command = app.add_subcommand(entry.name, entry.summary);
    command->footer(std::string("Examples:\n") + entry.examples);
    if (entry.summary[0] == '\0') command->group("");
    Arguments arguments(*command);
    const auto work = entry.configure(arguments);
    const std::vector<CLI::App*> verbs = verbs_of(*command);
    for (CLI::App* verb : verbs) {
      Arguments of_verb(*verb);
      add_colour_option(of_verb);
    }
    if (verbs.empty()) add_colour_option(arguments);
    command->callback([work, command, &status] {
      check_program(*command);
      status = work();
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
  throw UsageError("unknown command '" + word + "'",
                   fmt::format("{}{} (see `zerotax --help`)", did_you_mean(word, names), choices_text(names)));
}

std::vector<std::string> Subcommand::own_words(const CLI::App& app) {
  if (command_line.empty()) return {};
  const auto mark = std::find(command_line.begin(), command_line.end(), "--");
  if (mark == command_line.begin()) return {};
  return words_now(app, {command_line.begin() + 1, mark});
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
