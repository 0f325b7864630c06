#include "cli/leftover.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

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

/// A line of the examples may contain other commands, too.
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
                                : "leave it out, or " + help};
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

}  // namespace zerotax
