#include "cli/complete_values.h"

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

/// Options by name, where the same name means the same thing in every command. For others, a feature gives the values
/// with the option; for the rest the shell offers files, or what the option's own check lists.
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

/// "TEXT:{run,list}": a check that lists its words.
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

}  // namespace zerotax
