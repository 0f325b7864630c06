#include "cli/help_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "base/lines.h"
#include "base/nearest.h"

namespace zerotax {
namespace {

std::vector<std::string> option_names_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option :
       command.get_options([](const CLI::Option* each) { return !each->get_group().empty(); })) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

}  // namespace

std::string called(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? "zerotax" : called(*parent) + " " + command.get_name();
}

/// Searches the examples for "COMMAND ... --". An example may contain several commands, so the search for -- ends at "
/// && " or " | ".
bool runs_program(const CLI::App& command) {
  const std::string words = called(command) + " ";
  const CLI::App* parent = command.get_parent();
  const std::string examples = command.get_footer() + (parent != nullptr ? parent->get_footer() : "");
  for (std::size_t at = examples.find(words); at != std::string::npos; at = examples.find(words, at + 1)) {
    const std::string line = examples.substr(at, examples.find('\n', at) - at);
    const std::size_t end = std::min(line.find(" && "), line.find(" | "));
    if (line.substr(0, end).find(" -- ") != std::string::npos) return true;
  }
  const auto verbs = command.get_subcommands([](const CLI::App*) { return true; });
  return std::any_of(verbs.begin(), verbs.end(), [](const CLI::App* verb) { return runs_program(*verb); });
}

UsageError leftover_error(const CLI::App& command, const std::string& word) {
  const std::string name = called(command);
  const std::string help = fmt::format("see `{} --help`", name);
  if (word.starts_with('-') && word != "-") {
    const std::string option = word.substr(0, word.find('='));
    return {fmt::format("unknown option '{}' of {}", option, name),
            did_you_mean(option, option_names_of(command)) + help};
  }
  return {fmt::format("unexpected '{}'", word),
          runs_program(command) ? "put options before --, and the program and its arguments after it"
                                : "leave out this word, or " + help};
}

UsageError leftover_error(const CLI::App& app) {
  for (const CLI::App* command = &app; command != nullptr;) {
    if (const std::vector<std::string> left = command->remaining(); !left.empty()) {
      return leftover_error(*command, left.front());
    }
    const auto parsed = command->get_subcommands();
    command = parsed.empty() ? nullptr : parsed.front();
  }
  throw std::logic_error("no word is left over");
}

namespace {

constexpr std::size_t kOptionColumn = 26;
constexpr std::size_t kCommandColumn = 14;

std::string beside(const std::string& name, const std::string& description, std::size_t column) {
  const std::string further(column, ' ');
  std::string first = "  " + name;
  if (description.empty()) return first + "\n";
  if (first.size() + 2 > column) return first + "\n" + wrap(description, further, further);
  first.resize(column, ' ');
  return wrap(description, first, further);
}

/// Inserts a blank after each comma.
void spread(std::string& words) {
  for (std::size_t at = words.find(','); at != std::string::npos; at = words.find(',', at + 2))
    words.insert(at + 1, " ");
}

/// Folds an example into lines of at most 80 columns that a shell still reads as one command. The example's purpose
/// moves to a line above; a long command continues on the next line, starting with an option.
std::string folded(const std::string& example) {
  constexpr std::size_t kWidth = 80;
  if (example.size() <= kWidth) return example + "\n";
  const std::size_t blanks = example.find("   ", 2);
  if (blanks != std::string::npos && example.starts_with("  zerotax")) {
    const std::size_t words = example.find_first_not_of(" #", blanks);
    return wrap(example.substr(words), "  # ", "  # ") + folded(example.substr(0, blanks));
  }
  for (const char* before : {" --", " && ", " "}) {
    const std::size_t cut = example.rfind(before, kWidth - 3);
    // Never cuts within quoted words.
    if (cut == std::string::npos || cut <= example.find_first_not_of(' ') ||
        std::count(example.begin(), example.begin() + static_cast<std::ptrdiff_t>(cut), '\'') % 2 != 0)
      continue;
    return example.substr(0, cut) + " \\\n" + folded("      " + example.substr(cut + 1));
  }
  return example + "\n";
}

/// The name of an option's value, such as "SIZE" or "N"; empty for a flag.
std::string value_name(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

}  // namespace

std::string value_text(const CLI::Option& option) {
  const std::string value = value_name(option);
  if (value.empty()) return "";
  return option.get_items_expected_min() == 0 ? "[=" + value + "]" : " " + value;
}

std::string default_text(const CLI::Option& option) {
  const std::string value = option.get_default_str();
  if (value.empty()) return "";
  return fmt::format("({}: {})", option.get_items_expected_min() == 0 ? "without a value" : "default", value);
}

std::string HelpFormat::make_option(const CLI::Option* option, bool positional) const {
  std::string name = option->get_name(positional, !positional);
  spread(name);
  std::string description = option->get_description();
  const std::string type = option->get_type_name();
  if (!positional) name += value_text(*option);
  if (const auto open = type.find('{'); open != std::string::npos) {
    std::string words = type.substr(open + 1, type.rfind('}') - open - 1);
    // Some descriptions already list the words.
    const bool told = description.find(words.substr(0, words.find(','))) != std::string::npos;
    spread(words);
    if (!told) description += ": " + words;
  }
  if (const std::string fallback = default_text(*option); !fallback.empty()) description += " " + fallback;
  // The usage line already shows which positional arguments are required, because it puts optional arguments in
  // brackets.
  if (option->get_required() && !positional) description += " (required)";
  return beside(name, description, kOptionColumn);
}

std::string HelpFormat::make_group(std::string group, bool positional, std::vector<const CLI::Option*> options) const {
  if (group != kCommonGroup) return CLI::Formatter::make_group(std::move(group), positional, std::move(options));
  std::string names;
  for (const CLI::Option* option : options) names += (names.empty() ? "" : ", ") + option->get_name();
  return fmt::format("{} (zerotax help options): {}\n", group, names);
}

std::string HelpFormat::make_subcommand(const CLI::App* command) const {
  return beside(command->get_name(), command->get_description(), kCommandColumn);
}

std::string HelpFormat::make_description(const CLI::App* app) const { return wrap(app->get_description(), "", ""); }

std::string HelpFormat::make_usage(const CLI::App* app, std::string name) const {
  std::string usage = CLI::Formatter::make_usage(app, std::move(name));
  const bool has_verbs = !app->get_subcommands([](const CLI::App*) { return true; }).empty();
  if (has_verbs || !runs_program(*app)) return usage;
  return usage.insert(usage.find_last_not_of('\n') + 1, " [-- COMMAND ...]");
}

/// Folds the examples, and wraps the text below them.
std::string HelpFormat::make_footer(const CLI::App* app) const {
  std::istringstream lines(app->get_footer());
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    text += line.empty() || line.starts_with("  ") ? folded(line) : wrap(line, "", "");
  }
  return text;
}

}  // namespace zerotax
