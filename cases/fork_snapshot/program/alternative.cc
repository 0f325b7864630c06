#include "alternative.h"

#include <algorithm>

namespace snapshot {
namespace {

std::vector<Registered>& entries() {
  static std::vector<Registered> all;
  return all;
}

}  // namespace

Registration::Registration(const char* name, const char* summary, std::function<std::unique_ptr<Alternative>()> make,
                           Kind kind, const char* of) {
  entries().push_back({name, summary, std::move(make), kind, of == nullptr ? "" : of});
}

const std::vector<Registered>& all_alternatives() {
  std::sort(entries().begin(), entries().end(),
            [](const Registered& one, const Registered& other) { return one.name < other.name; });
  return entries();
}

std::unique_ptr<Alternative> make_alternative(const std::string& name) {
  const auto found =
      std::find_if(entries().begin(), entries().end(), [&](const Registered& entry) { return entry.name == name; });
  return found == entries().end() ? nullptr : found->make();
}

}  // namespace snapshot
