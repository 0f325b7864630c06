#include "advise/remedy.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/shell.h"

namespace zerotax::advise {
namespace {

/// Variables that hold a list of settings, and what stands between two of them.
constexpr std::pair<std::string_view, char> kLists[] = {
    {"GLIBC_TUNABLES", ':'}, {"MALLOC_CONF", ','}, {"SCUDO_OPTIONS", ':'}};

char separator_of(const std::string& variable) {
  for (const auto& [name, separator] : kLists) {
    // jemalloc within a program may put letters of its own before the name.
    if (variable.ends_with(name)) return separator;
  }
  return 0;
}

/// The key of each setting in a list.
std::vector<std::string> keys_of(const std::string& value, char separator) {
  std::vector<std::string> keys;
  for (std::size_t at = 0; at <= value.size();) {
    const std::size_t end = std::min(value.find(separator, at), value.size());
    const std::string setting = value.substr(at, end - at);
    // jemalloc separates key and value by a colon, the others by an equals sign.
    keys.push_back(setting.substr(0, setting.find(separator == ',' ? ':' : '=')));
    at = end + 1;
  }
  return keys;
}

bool can_join(const std::string& variable, const std::string& one, const std::string& other) {
  if (one == other) return true;
  const char separator = separator_of(variable);
  if (separator == 0) return false;
  const std::vector<std::string> keys = keys_of(one, separator);
  const std::vector<std::string> others = keys_of(other, separator);
  return std::none_of(keys.begin(), keys.end(), [&](const std::string& key) {
    return std::find(others.begin(), others.end(), key) != others.end();
  });
}

std::string joined(const std::string& variable, const std::string& one, const std::string& other) {
  if (one == other || other.empty()) return one;
  return one.empty() ? other : one + separator_of(variable) + other;
}

std::string together(const std::string& one, const std::string& other) {
  if (one.empty() || other.empty() || one == other) return one.empty() ? other : one;
  return one + "; " + other;
}

}  // namespace

std::string other_preloads() {
  const char* before = std::getenv("LD_PRELOAD");
  std::string kept;
  if (before == nullptr) return kept;
  const std::string all = before;
  for (std::size_t at = 0; at < all.size();) {
    // The loader takes blanks and colons.
    const std::size_t end = std::min(all.find_first_of(" :", at), all.size());
    const std::string file = all.substr(at, end - at);
    if (!file.empty() && allocator_name(file).empty()) kept += (kept.empty() ? "" : ":") + file;
    at = end + 1;
  }
  return kept;
}

std::size_t settings(const Remedy& remedy) { return remedy.env.size() + (remedy.preload ? 1 : 0); }

std::map<std::string, std::string> environment_of(const Remedy& remedy) {
  std::map<std::string, std::string> variables;
  for (const auto& [key, value] : remedy.env) {
    const char* before = std::getenv(key.c_str());
    // A list of settings that the user has stays, where it says nothing about the same ones.
    const bool joins = before != nullptr && separator_of(key) != 0 && can_join(key, before, value);
    variables[key] = joins ? joined(key, before, value) : value;
  }
  if (remedy.preload) {
    const std::string others = other_preloads();
    variables["LD_PRELOAD"] = *remedy.preload + (others.empty() ? "" : ":" + others);
  }
  return variables;
}

std::string paste_text(const Remedy& remedy) {
  std::string text;
  const auto variables = environment_of(remedy);
  const auto add = [&](const std::string& key) {
    text += (text.empty() ? "" : " ") + key + "=" + shell_word(variables.at(key));
  };
  if (remedy.preload) add("LD_PRELOAD");
  for (const auto& [key, value] : remedy.env) add(key);
  return text;
}

bool can_combine(const Remedy& one, const Remedy& other) {
  if (one.preload && other.preload) return false;
  return std::all_of(one.env.begin(), one.env.end(), [&](const auto& entry) {
    const auto found = other.env.find(entry.first);
    return found == other.env.end() ||
           (found->second != entry.second && can_join(entry.first, entry.second, found->second));
  });
}

Remedy combined(const Remedy& one, const Remedy& other) {
  Remedy both = one;
  const std::string prefix = one.allocator + ": ";
  const bool same = one.allocator == other.allocator && other.name.starts_with(prefix);
  both.name += (one.name == one.allocator ? ": " : ", ") + (same ? other.name.substr(prefix.size()) : other.name);
  if (other.preload) both.preload = other.preload;
  for (const auto& [key, value] : other.env) both.env[key] = joined(key, both.env[key], value);
  both.words = together(one.words, other.words);
  both.costs = together(one.costs, other.costs);
  both.causes.insert(both.causes.end(), other.causes.begin(), other.causes.end());
  both.parts.clear();
  return both;
}

}  // namespace zerotax::advise
