#include "advise/remedy.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "advise/fork_hook.h"
#include "base/shell.h"
#include "os/elf_file.h"

namespace zerotax::advise {
namespace {

/// Whether two lists of settings can be joined: no setting may be in both lists.
bool can_join(const std::string& variable, const std::string& one, const std::string& other) {
  if (!record::is_list(variable)) return false;
  const std::vector<std::string> names = record::names_in_list(variable, one);
  const std::vector<std::string> others = record::names_in_list(variable, other);
  return std::none_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::find(others.begin(), others.end(), name) != others.end();
  });
}

std::map<std::string, std::string> settings_of(const Remedy& remedy) {
  std::map<std::string, std::string> variables = record::with_settings(record::own_variables(), remedy.env);
  if (remedy.preload) {
    const std::string others = other_preloads();
    variables[kPreload] = *remedy.preload + (others.empty() ? "" : ":" + others);
  }
  return variables;
}

std::string together(const std::string& one, const std::string& other) {
  if (one.empty() || other.empty() || one == other) return one.empty() ? other : one;
  return one + "; " + other;
}

}  // namespace

std::string other_preloads() {
  const char* before = std::getenv(kPreload);
  std::string kept;
  if (before == nullptr) return kept;
  const std::string all = before;
  for (std::size_t at = 0; at < all.size();) {
    // The loader accepts blanks and colons as separators in LD_PRELOAD.
    const std::size_t end = std::min(all.find_first_of(" :", at), all.size());
    const std::string file = all.substr(at, end - at);
    if (!file.empty() && allocator_name(file).empty()) kept += (kept.empty() ? "" : ":") + file;
    at = end + 1;
  }
  return kept;
}

Remedy without_huge_pages() {
  Remedy remedy;
  remedy.name = "no huge pages in the process";
  // perl-base is part of every Debian system, and setting the flag needs no more than a system call before the exec.
  remedy.launcher = {
      find_program("perl"), "-e",
      fmt::format("syscall({},{},1,0,0,0) and die $!; exec {{$ARGV[0]}} @ARGV; die $!", SYS_prctl, PR_SET_THP_DISABLE)};
  remedy.causes = {record::Cause::kFresh, record::Cause::kRefilled};
  remedy.words =
      "prctl(PR_SET_THP_DISABLE) before the start turns off transparent huge pages; for a service, since systemd 260, "
      "MemoryTHP=disable does the same";
  remedy.costs = "each page of 4 KiB takes a fault of its own";
  return remedy;
}

std::size_t settings(const Remedy& remedy) {
  return remedy.env.size() + (remedy.preload ? 1 : 0) + (remedy.launcher.empty() ? 0 : 1) +
         changes_in(remedy.hook).size();
}

std::map<std::string, std::string> environment_of(const Remedy& remedy) {
  std::map<std::string, std::string> variables = settings_of(remedy);
  variables.insert(remedy.hook.begin(), remedy.hook.end());
  return variables;
}

std::string paste_text(const Remedy& remedy) {
  std::string text;
  const auto variables = settings_of(remedy);
  const auto add = [&](const std::string& key) {
    text += (text.empty() ? "" : " ") + key + "=" + shell_word(variables.at(key));
  };
  if (remedy.preload) add(kPreload);
  for (const auto& [key, value] : variables) {
    if (key != kPreload || !remedy.preload) add(key);
  }
  if (remedy.launcher.empty()) return text;
  return text + (text.empty() ? "" : " ") + shell_text(remedy.launcher);
}

bool can_combine(const Remedy& one, const Remedy& other) {
  const auto preloads = [](const Remedy& remedy) {
    return remedy.preload.has_value() || remedy.env.contains(kPreload) || remedy.hook.contains(kPreload);
  };
  if (preloads(one) && preloads(other)) return false;
  if (!one.launcher.empty() && !other.launcher.empty()) return false;
  if (!can_join_hooks(one.hook, other.hook)) return false;
  return std::all_of(one.env.begin(), one.env.end(), [&](const auto& entry) {
    const auto found = other.env.find(entry.first);
    return found == other.env.end() || can_join(entry.first, entry.second, found->second);
  });
}

Remedy combined(const Remedy& one, const Remedy& other) {
  Remedy both = one;
  const std::string prefix = one.allocator + ": ";
  const bool same = one.allocator == other.allocator && other.name.starts_with(prefix);
  both.name += (one.name == one.allocator ? ": " : ", ") + (same ? other.name.substr(prefix.size()) : other.name);
  if (other.preload) both.preload = other.preload;
  if (!other.launcher.empty()) both.launcher = other.launcher;
  for (const auto& [key, value] : other.env) both.env[key] = record::merged(key, both.env[key], value);
  both.hook = joined_hooks(one.hook, other.hook);
  both.source = source_line(changes_in(both.hook));
  both.words = together(one.words, other.words);
  both.costs = together(one.costs, other.costs);
  both.causes.insert(both.causes.end(), other.causes.begin(), other.causes.end());
  both.parts.clear();
  return both;
}

}  // namespace zerotax::advise
