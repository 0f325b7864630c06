#include "cli/leftover.h"

#include <fmt/format.h>

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

UsageError leftover_error(const CLI::App& command, const std::string& word) {
  const std::string name = called(command);
  const std::string help = fmt::format("see `{} --help`", name);
  if (word.starts_with('-') && word != "-") {
    const std::string option = word.substr(0, word.find('='));
    return {fmt::format("unknown option '{}' of {}", option, name),
            did_you_mean(option, option_names_of(command)) + help};
  }
  const bool runs = command.get_footer().find(" -- ") != std::string::npos;
  return {fmt::format("unexpected '{}'", word),
          runs ? "put options before --, and the program and its arguments after it" : "leave it out, or " + help};
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
