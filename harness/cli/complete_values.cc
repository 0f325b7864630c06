#include "cli/complete_values.h"

#include <functional>
#include <map>
#include <sstream>

#include "drive/allocators.h"
#include "drive/clients.h"
#include "drive/probe_identity.h"
#include "drive/snapshot_run.h"

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

Values clients() {
  Values names;
  for (const Client& client : all_clients()) names.push_back(client.name);
  return names;
}

Values alternatives() {
  Values names;
  for (const SnapshotAlternative& each : chosen_alternatives({})) names.push_back(each.name);
  return names;
}

Values threads() { return {"main", "worker"}; }
Values costs() { return {"calloc", "total"}; }
Values axes() { return {"size", "touch"}; }
Values severities() { return {"low", "medium", "high"}; }
Values weights() { return {"redundant", "zeroed", "ns"}; }

/// Options by name: the same name means the same thing in every command. One that is missing here has the shell offer
/// files, or what its own check lists.
const std::map<std::string, std::function<Values()>>& sources() {
  static const std::map<std::string, std::function<Values()>> kAll{
      {"--allocator", allocators},
      {"A", allocators},
      {"B", allocators},
      {"OLD", allocators},
      {"NEW", allocators},
      {"--env", allocator_variables},
      {"--case", cases},
      {"--client", clients},
      {"--thread", threads},
      {"--cost", costs},
      {"--by", axes},
      {"--weight", weights},
      {"--alternative", alternatives},
  };
  return kAll;
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

std::vector<std::string> known_values(const CLI::Option& option) {
  const std::string name = option.get_name(option.get_positional());
  // profile's is a percentage.
  if (name == "--least" && option.get_type_name() == "TEXT") return severities();
  const auto found = sources().find(name);
  return found != sources().end() ? found->second() : listed(option.get_type_name());
}

}  // namespace zerotax
