#include "compare/sides.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "run/allocators.h"

namespace zerotax::compare {
namespace {

/// "new.so" is "new=new.so": a path names itself.
std::string named(const std::string& word) {
  std::error_code failure;
  const bool has_name = word.find('=') != std::string::npos;
  if (has_name || !std::filesystem::is_regular_file(word, failure)) return word;
  return std::filesystem::path(word).stem().string() + "=" + word;
}

std::string name_of(const std::string& word) { return word.substr(0, word.find('=')); }

}  // namespace

std::pair<Allocator, Allocator> resolve_sides(const std::string& before, const std::string& after,
                                              const std::vector<std::string>& env) {
  const std::string words[2] = {named(before), named(after)};
  const std::string sides[2] = {"old", "new"};
  std::vector<std::string> own[2];
  for (const std::string& entry : env) {
    const std::string name = entry.substr(0, entry.find(':'));
    bool used = false;
    for (std::size_t i = 0; i < 2; ++i) {
      if (name != sides[i] && name != name_of(words[i])) continue;
      own[i].push_back(name_of(words[i]) + entry.substr(std::min(entry.size(), name.size())));
      used = true;
    }
    if (!used) {
      throw UsageError(fmt::format("--env names '{}', which is not compared", name),
                       fmt::format("name old, new, {} or {}", name_of(words[0]), name_of(words[1])));
    }
  }
  return {resolve_allocators({words[0]}, own[0]).front(), resolve_allocators({words[1]}, own[1]).front()};
}

}  // namespace zerotax::compare
