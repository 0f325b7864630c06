#include "cli/complete.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "cli/parser.h"
#include "run/allocators.h"
#include "run/probe_identity.h"

namespace zerotax {
namespace {

using Values = std::vector<std::string>;

Values allocators() {
  Values names;
  for (const BuiltinAllocator& builtin : builtin_allocators()) {
    if (builtin.missing.empty()) names.push_back(builtin.name);
  }
  return names;
}

Values allocator_variables() {
  Values names = allocators();
  for (std::string& name : names) name += ":";
  return names;
}

Values cases() {
  Values names;
  for (const auto& [name, known] : known_cases()) names.push_back(name);
  return names;
}

Values threads() { return {"main", "worker"}; }

/// Values of options that mean the same in every command, by option name. The values of other options come from the
/// file that adds the option, or from the option's check. Where no values are known, the shell offers files.
const std::map<std::string, std::function<Values()>>& common() {
  static const std::map<std::string, std::function<Values()>> all{
      {"--allocator", allocators}, {"A", allocators}, {"B", allocators},     {"OLD", allocators},
      {"NEW", allocators},         {"--case", cases}, {"--thread", threads}, {"--env", allocator_variables},
  };
  return all;
}

std::map<const CLI::Option*, std::function<Values()>>& sources() {
  static std::map<const CLI::Option*, std::function<Values()>> all;
  return all;
}

/// The words that a check lists, such as run and list in "TEXT:{run,list}".
Values listed(const std::string& type) {
  Values values;
  const auto open = type.find('{');
  const auto close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos) return values;
  std::istringstream words(type.substr(open + 1, close - open - 1));
  for (std::string word; std::getline(words, word, ',');) values.push_back(word);
  return values;
}

}  // namespace

void set_known_values(const CLI::Option& option, std::function<Values()> values) {
  sources()[&option] = std::move(values);
}

std::vector<std::string> known_values(const CLI::Option& option) {
  if (const auto given = sources().find(&option); given != sources().end()) return given->second();
  const auto found = common().find(option.get_name(option.get_positional()));
  return found != common().end() ? found->second() : listed(option.get_type_name());
}

namespace {

bool is_shown(const CLI::Option* option) { return !option->get_group().empty(); }

/// The option, such as "--allocator", whose value follows the word; null if no value follows.
const CLI::Option* option_of(const CLI::App& command, const std::string& word) {
  if (!word.starts_with("-")) return nullptr;
  const CLI::Option* option = command.get_option_no_throw(word);
  return option != nullptr && option->get_items_expected_max() != 0 ? option : nullptr;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options(is_shown)) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); })) {
    names.push_back(command->get_name());
  }
  return names;
}

/// Counts the words that are neither options nor values of options, leaving out the last word.
std::size_t positionals_before(const CLI::App& command, const std::vector<std::string>& words) {
  std::size_t count = 0;
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    // A shell may split "NAME=PATH" into three words.
    const bool joined = words[i] == "=" || words[i - 1] == "=";
    if (!joined && !words[i].starts_with("-") && option_of(command, words[i - 1]) == nullptr) ++count;
  }
  return count;
}

std::vector<std::string> expected(const CLI::App& command, const std::vector<std::string>& words) {
  const std::string& last = words.back();
  std::size_t before = words.size() - 2;
  if (words[before] == "=") --before;  // a shell splits "--cost=" here
  if (const CLI::Option* option = option_of(command, words[before])) return known_values(*option);
  if (words[words.size() - 2] == "=") return {};  // the value of NAME=PATH is a file
  if (last.starts_with("-")) {
    const auto equals = last.find('=');
    if (equals == std::string::npos) return option_names(command);
    std::vector<std::string> values;
    if (const CLI::Option* option = option_of(command, last.substr(0, equals))) {
      for (const std::string& value : known_values(*option)) values.push_back(last.substr(0, equals + 1) + value);
    }
    return values;
  }
  const auto positionals =
      command.get_options([](const CLI::Option* each) { return is_shown(each) && each->get_positional(); });
  const std::size_t index = positionals_before(command, words);
  if (index < positionals.size()) return known_values(*positionals[index]);
  return last.empty() ? option_names(command) : std::vector<std::string>{};
}

std::vector<std::string> candidates(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.size() <= 1) return words.empty() || !words[0].starts_with("-") ? command_names(app) : option_names(app);
  if (std::find(words.begin(), words.end() - 1, "--") != words.end() - 1) return {};
  const auto commands = app.get_subcommands([&](const CLI::App* each) { return each->get_name() == words[0]; });
  if (commands.empty()) return {};
  const CLI::App& command = *commands.front();
  // A command with verbs, such as trace, is completed like the program itself.
  if (!command_names(command).empty()) return candidates(command, {words.begin() + 1, words.end()});
  return expected(command, words);
}

}  // namespace

std::vector<std::string> complete(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> found = candidates(app, words);
  const std::string begun = words.empty() || words.back() == "=" ? "" : words.back();
  std::erase_if(found, [&](const std::string& each) { return !each.starts_with(begun); });
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace zerotax
