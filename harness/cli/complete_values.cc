#include "cli/complete_values.h"

#include <map>
#include <sstream>

#include "cli/parser.h"
#include "core/allocators.h"
#include "core/probe_identity.h"

namespace zerotax {
namespace {

using Values = std::vector<std::string>;

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

std::vector<std::string> allocator_names() {
  Values names;
  for (const BuiltinAllocator& builtin : builtin_allocators()) {
    if (builtin.missing.empty()) names.push_back(builtin.name);
  }
  return names;
}

std::vector<std::string> allocator_variables() {
  Values names = allocator_names();
  for (std::string& name : names) name += ":";
  return names;
}

std::vector<std::string> case_names() {
  Values names;
  for (const auto& [name, known] : known_cases()) names.push_back(name);
  return names;
}

std::vector<std::string> thread_names() { return {"main", "worker"}; }

std::vector<std::string> known_values(const CLI::Option& option) {
  const auto found = sources().find(&option);
  return found != sources().end() ? found->second() : listed(option.get_type_name());
}

}  // namespace zerotax
