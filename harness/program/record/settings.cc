#include "record/settings.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace zerotax::record {
namespace {

/// A variable that holds a list of settings. `between` separates two settings; `within` separates a setting's name from
/// its value.
struct List {
  std::string_view variable;
  char between;
  char within;
};
constexpr List kLists[] = {{"GLIBC_TUNABLES", ':', '='}, {"MALLOC_CONF", ',', ':'}, {"SCUDO_OPTIONS", ':', '='}};

/// Variables of glibc's allocator, each with its tunable. A tunable overrides the older variable (elf/dl-tunables.c,
/// __tunables_init).
constexpr std::pair<std::string_view, std::string_view> kTunables[] = {
    {"MALLOC_TRIM_THRESHOLD_", "glibc.malloc.trim_threshold"},
    {"MALLOC_MMAP_THRESHOLD_", "glibc.malloc.mmap_threshold"},
    {"MALLOC_TOP_PAD_", "glibc.malloc.top_pad"},
    {"MALLOC_ARENA_MAX", "glibc.malloc.arena_max"}};
constexpr const char* kTunablesVariable = "GLIBC_TUNABLES";

const List* list_of(const std::string& variable) {
  // A program that contains jemalloc may have put a prefix before the variable's name.
  const auto* found = std::find_if(std::begin(kLists), std::end(kLists),
                                   [&](const List& each) { return variable.ends_with(each.variable); });
  return found == std::end(kLists) ? nullptr : found;
}

/// Whether two values mean the same. For example, "0" equals "off", "no" and "0.0".
bool is_same_value(const std::string& one, const std::string& other) {
  if (one == other) return true;
  const auto number = [](const std::string& text) -> std::optional<double> {
    if (text == "off" || text == "no" || text == "false") return 0;
    if (text == "on" || text == "yes" || text == "true") return 1;
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    return end == text.c_str() || *end != '\0' ? std::nullopt : std::optional(value);
  };
  return number(one) && number(one) == number(other);
}

using Setting = std::pair<std::string, std::string>;

std::vector<Setting> settings_in(const List& list, const std::string& value) {
  std::vector<Setting> found;
  std::istringstream text(value);
  for (std::string each; std::getline(text, each, list.between);) {
    if (each.empty()) continue;
    const std::size_t at = each.find(list.within);
    found.emplace_back(each.substr(0, at), at == std::string::npos ? "" : each.substr(at + 1));
  }
  return found;
}

std::string setting_text(const List& list, const Setting& setting) {
  return setting.first + (setting.second.empty() ? "" : list.within + setting.second);
}

const std::string* variable_in(const Variables& variables, const std::string& key) {
  const auto found = variables.find(key);
  return found == variables.end() ? nullptr : &found->second;
}

/// Returns the value of a setting in a list, or nullptr. The last occurrence counts.
const std::string* value_in(const std::vector<Setting>& settings, std::string_view name) {
  const auto found =
      std::find_if(settings.rbegin(), settings.rend(), [&](const auto& each) { return each.first == name; });
  return found == settings.rend() ? nullptr : &found->second;
}

/// Adds an environment entry "KEY=VALUE".
void add_variable(Variables& variables, const std::string& entry) {
  const std::size_t at = entry.find('=');
  if (at != std::string::npos) variables.emplace(entry.substr(0, at), entry.substr(at + 1));
}

/// Converts the settings to variables. `now` are the variables that the program already has. If `now` sets the tunable
/// of a variable of glibc's allocator, that variable becomes the tunable.
Variables as_read(const Variables& now, const Variables& env) {
  const std::string* tunables = variable_in(now, kTunablesVariable);
  if (tunables == nullptr) return env;
  const std::vector<Setting> set = settings_in(*list_of(kTunablesVariable), *tunables);
  Variables read = env;
  for (const auto& [variable, tunable] : kTunables) {
    if (value_in(set, tunable) == nullptr) continue;
    const auto setting = read.extract(std::string(variable));
    if (setting.empty()) continue;
    std::string& list = read[kTunablesVariable];
    list = merged(kTunablesVariable, list, std::string(tunable) + "=" + setting.mapped());
  }
  return read;
}

}  // namespace

Variables own_variables() {
  Variables found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) add_variable(found, *entry);
  return found;
}

Variables variables_of(pid_t pid) {
  Variables found;
  std::ifstream text("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  for (std::string entry; std::getline(text, entry, '\0');) add_variable(found, entry);
  return found;
}

bool is_list(const std::string& variable) { return list_of(variable) != nullptr; }

std::vector<std::string> names_in_list(const std::string& variable, const std::string& list) {
  std::vector<std::string> names;
  for (const Setting& each : settings_in(*list_of(variable), list)) names.push_back(each.first);
  return names;
}

std::string merged(const std::string& variable, const std::string& list, const std::string& value) {
  const List* const form = list_of(variable);
  if (form == nullptr) return value;
  const std::vector<Setting> added = settings_in(*form, value);
  std::string text;
  const auto add = [&](const Setting& setting) {
    text += (text.empty() ? "" : std::string(1, form->between)) + setting_text(*form, setting);
  };
  for (const Setting& setting : settings_in(*form, list)) {
    if (value_in(added, setting.first) == nullptr) add(setting);
  }
  for (const Setting& setting : added) add(setting);
  return text;
}

Variables with_settings(const Variables& now, const Variables& env) {
  Variables result;
  for (const auto& [key, value] : as_read(now, env)) {
    const std::string* before = variable_in(now, key);
    result[key] = before == nullptr ? value : merged(key, *before, value);
  }
  return result;
}

bool are_set(const Variables& now, const Variables& env) {
  const Variables read = as_read(now, env);
  return std::all_of(read.begin(), read.end(), [&](const auto& each) {
    const std::string* before = variable_in(now, each.first);
    if (before == nullptr) return false;
    const List* const form = list_of(each.first);
    if (form == nullptr) return is_same_value(*before, each.second);
    const std::vector<Setting> set = settings_in(*form, *before);
    const std::vector<Setting> wanted = settings_in(*form, each.second);
    return std::all_of(wanted.begin(), wanted.end(), [&](const Setting& setting) {
      const std::string* value = value_in(set, setting.first);
      return value != nullptr && is_same_value(*value, setting.second);
    });
  });
}

std::string replaced_by(const Variables& now, const Variables& env) {
  std::string text;
  const auto add = [&](const std::string& each) { text += (text.empty() ? "" : ", ") + each; };
  for (const auto& [key, value] : as_read(now, env)) {
    const std::string* before = variable_in(now, key);
    if (before == nullptr || is_same_value(*before, value)) continue;
    const List* const form = list_of(key);
    if (form == nullptr) {
      add(key + "=" + *before);
      continue;
    }
    const std::vector<Setting> wanted = settings_in(*form, value);
    for (const Setting& setting : settings_in(*form, *before)) {
      const std::string* changed = value_in(wanted, setting.first);
      if (changed != nullptr && !is_same_value(*changed, setting.second)) add(setting_text(*form, setting));
    }
  }
  return text;
}

}  // namespace zerotax::record
