#include "snapshot/process/alternative.h"

#include <algorithm>

namespace snapshot {

std::vector<Registered>& all_alternatives() {
  static std::vector<Registered> all;
  std::sort(all.begin(), all.end(),
            [](const Registered& one, const Registered& other) { return one.name < other.name; });
  return all;
}

std::unique_ptr<Alternative> make_alternative(const std::string& name) {
  for (const Registered& entry : all_alternatives()) {
    if (entry.name != name) continue;
    std::unique_ptr<Alternative> made = entry.make();
    made->facts = entry.facts;
    return made;
  }
  return nullptr;
}

}  // namespace snapshot
