#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "contenders.h"
#include "largecache/policy.h"
#include "run/allocators.h"
#include "run/program_launch.h"

using namespace zerotax;

namespace {

Contender preloaded(const std::string& name, Contender::Kind kind, const Allocator& allocator) {
  Contender contender{.name = name, .kind = kind, .library = allocator.preload.value_or("")};
  contender.version = allocator.version;
  for (const auto& [key, value] : allocator.env) contender.environment.emplace_back(key, value);
  return contender;
}

// A broken library is accepted as a contender, too: its row shows how programs fail under it.
Contender given(const std::string& name, const std::string& path) {
  const std::string library = std::filesystem::absolute(path).string();
  if (name.empty() || !std::filesystem::is_regular_file(library)) {
    throw UsageError(fmt::format("invalid contender '{}={}': no such file", name, path),
                     "give NAME=PATH of a library that replaces malloc");
  }
  check_preload_path(library, "copy the library to a path without spaces and colons");
  return {.name = name, .kind = Contender::Kind::kGiven, .library = library};
}

}  // namespace

const char* kind_name(Contender::Kind kind) {
  switch (kind) {
    case Contender::Kind::kGlibc:
      return "glibc";
    case Contender::Kind::kAllocator:
      return "allocator";
    case Contender::Kind::kPolicy:
      return "policy";
    case Contender::Kind::kGiven:
      break;
  }
  return "given";
}

std::vector<Contender> all_contenders() {
  std::vector<Contender> contenders = {{.name = kDefault, .kind = Contender::Kind::kGlibc},
                                       {.name = kRaised,
                                        .kind = Contender::Kind::kGlibc,
                                        .environment = {{"MALLOC_TRIM_THRESHOLD_", "4294967296"},
                                                        {"MALLOC_MMAP_THRESHOLD_", "33554432"},
                                                        {"MALLOC_TOP_PAD_", "67108864"}}}};
  for (const BuiltinAllocator& builtin : builtin_allocators()) {
    if (!builtin.missing.empty() || builtin.name == "glibc" || builtin.name == "largecache") continue;
    const auto allocator = resolve_program_allocator(builtin.name, {});
    contenders.push_back(preloaded(builtin.name, Contender::Kind::kAllocator, *allocator));
  }
  for (const auto* each = largecache::kPolicies; *each != nullptr; ++each) {
    const std::string policy = (*each)->name;
    const auto allocator = resolve_program_allocator("largecache", {"largecache:LARGECACHE_POLICY=" + policy});
    contenders.push_back(preloaded(policy, Contender::Kind::kPolicy, *allocator));
  }
  return contenders;
}

std::vector<Contender> chosen_contenders(const std::vector<std::string>& words) {
  std::vector<Contender> all = all_contenders();
  if (words.empty()) return all;
  std::vector<Contender> chosen = {all.front()};
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const Contender& contender : all) names.push_back(contender.name);
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const auto by_name = [&](const Contender& contender) { return contender.name == name; };
    const auto found = std::ranges::find_if(all, by_name);
    if (name == kDefault && equals == std::string::npos) continue;
    if (std::ranges::any_of(chosen, by_name)) {
      throw UsageError(fmt::format("contender '{}' is given twice", name), "give each once");
    }
    if (equals != std::string::npos) {
      chosen.push_back(given(name, word.substr(equals + 1)));
    } else if (found != all.end()) {
      chosen.push_back(*found);
    } else {
      throw UsageError(fmt::format("unknown contender '{}'", name),
                       fmt::format("choose: {}, or NAME=PATH of a library", fmt::join(names, ", ")));
    }
  }
  return chosen;
}
