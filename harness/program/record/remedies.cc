#include "record/remedies.h"

#include <fmt/format.h>
#include <gnu/libc-version.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/error.h"
#include "base/names.h"
#include "judge/projects.h"
#include "os/input_file.h"
#include "os/regular_file.h"
#include "record/result.h"
#include "run/allocators.h"

namespace zerotax::record {

void to_json(Json& json, const ReturnedBytes& bytes) {
  json = Json::object();
  for (std::size_t i = 0; i < kMechanisms; ++i) {
    if (bytes.by[i] != 0) json[word(static_cast<Mechanism>(i))] = bytes.by[i];
  }
}
void from_json(const Json& json, ReturnedBytes& bytes) {
  for (std::size_t i = 0; i < kMechanisms; ++i) {
    bytes.by[i] = json.value(word(static_cast<Mechanism>(i)), std::uint64_t{0});
  }
}

namespace {

/// Returns the names under which an allocator's code may contain a setting: its variable, the names in a list, or
/// mimalloc's option without its prefix.
std::vector<std::string> names_in_code(const std::string& variable, const std::string& value) {
  constexpr std::string_view kMimalloc = "MIMALLOC_";
  if (is_list(variable)) return names_in_list(variable, value);
  if (!variable.starts_with(kMimalloc)) return {variable};
  std::string option = variable.substr(kMimalloc.size());
  std::transform(option.begin(), option.end(), option.begin(), [](unsigned char each) { return std::tolower(each); });
  return {option};
}

bool is_glibc(const std::string& allocator) { return allocator == "glibc"; }

std::string bytes_of(const std::string& path) {
  try {
    return read_input_file(path);
  } catch (const UsageError&) {
    return "";
  }
}

bool is_of_name(char letter) {
  return letter == '_' || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9');
}

/// Returns the C strings in a file that end with `end` and contain only capital letters, digits and underscores.
std::set<std::string> words_with_end(const std::string& bytes, const std::string& end) {
  std::set<std::string> found;
  const std::string wanted = end + '\0';
  for (std::size_t at = bytes.find(wanted); at != std::string::npos; at = bytes.find(wanted, at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && is_of_name(bytes[begin - 1])) --begin;
    // A match in the middle of another text is not a name.
    if (begin > 0 && bytes[begin - 1] == '\0') found.insert(bytes.substr(begin, at + end.size() - begin));
  }
  return found;
}

/// Whether the file shows that its allocator does not know one of these settings.
bool lacks_any(const std::string& file, const Variables& env) {
  for (const auto& [variable, value] : env) {
    for (const std::string& name : names_in_code(variable, value)) {
      if (!has_text(file, name).value_or(true)) return true;
    }
  }
  return false;
}

}  // namespace

Upstream upstream_of_allocator(const std::string& allocator) {
  const Json* json = upstream_of(allocator);
  return json == nullptr ? Upstream{} : json->get<Upstream>();
}

PresentAllocator present_allocator(const std::string& library) {
  PresentAllocator present{allocator_name(library), library, version_of(library)};
  if (!present.name.empty()) return present;
  const std::vector<InsideAllocator> inside = allocators_inside({library});
  if (inside.empty()) return present;
  return {inside.front().allocator, library, "", inside.front().variables};
}

Variables settings_of(const KnownRemedy& remedy, const PresentAllocator& allocator) {
  Variables env = remedy.env;
  for (const auto& [variable, here] : allocator.names) {
    auto setting = env.extract(variable);
    if (setting.empty()) continue;
    setting.key() = here;
    env.insert(std::move(setting));
  }
  return env;
}

std::string why_unavailable(const KnownRemedy& remedy, const PresentAllocator& allocator) {
  const std::string& version = allocator.version;
  if (lacks(version, remedy.since)) {
    return fmt::format("available from {} on; this is {}", *remedy.since, version);
  }
  if (remedy.before && !version.empty() && !lacks(version, remedy.before)) {
    return fmt::format("available before {} only; this is {}", *remedy.before, version);
  }
  if (!is_glibc(allocator.name) && lacks_any(allocator.file, settings_of(remedy, allocator))) {
    return fmt::format("{} of the allocator does not know the setting",
                       version.empty() ? "this build" : "version " + version);
  }
  return "";
}

std::string why_no_effect(const KnownRemedy& remedy, const PresentAllocator& allocator, const Variables& now) {
  std::string why = why_unavailable(remedy, allocator);
  if (!why.empty()) return why;
  const Variables env = settings_of(remedy, allocator);
  if (remedy.undoes && replaced_by(now, env).empty()) return "the remedy undoes a setting that is not set";
  return are_set(now, env) ? "already set" : "";
}

std::string version_of(const std::string& library) {
  const std::string name = allocator_name(library);
  if (is_glibc(name)) return ::gnu_get_libc_version();
  // Reading the version loads the library. No version is read from an untrusted library.
  if (name.empty() || !is_of_trusted_user(library)) return "";
  try {
    const std::string version = resolve_allocators({"present=" + library}, {}).front().version;
    // The version of a library without a version is its build ID, which has no dot.
    return version.find('.') == std::string::npos ? "" : version;
  } catch (const Error&) {
    return "";
  }
}

std::string allocator_name(const std::string& file) {
  const std::string name = file_name(file);
  if (name.starts_with("libc.so") || name.starts_with("libc-")) return "glibc";
  // The search includes known allocators that are not part of this build.
  for (const auto& [allocator, upstream] : embedded_upstreams()) {
    if (name.find(allocator) != std::string::npos && name.starts_with("lib")) return allocator;
  }
  return "";
}

std::vector<InsideAllocator> allocators_inside(const std::vector<std::string>& files) {
  std::vector<InsideAllocator> found;
  const auto add = [&](const InsideAllocator& inside) {
    const auto same = [&](const InsideAllocator& each) {
      return each.allocator == inside.allocator && each.variables == inside.variables;
    };
    if (std::none_of(found.begin(), found.end(), same)) found.push_back(inside);
  };
  const std::map<std::string, InsideMarks> known = inside_marks();
  for (const std::string& file : files) {
    const std::string bytes = bytes_of(file);
    for (const auto& [allocator, marks] : known) {
      if (bytes.find(marks.text) == std::string::npos) continue;
      if (!marks.variable) {
        add({allocator, file, {}});
        continue;
      }
      for (const std::string& name : words_with_end(bytes, *marks.variable)) {
        add({allocator, file, {{*marks.variable, name}}});
      }
    }
  }
  return found;
}

std::optional<bool> has_text(const std::string& file, const std::string& name) {
  const std::string bytes = bytes_of(file);
  if (bytes.empty()) return std::nullopt;
  return bytes.find(name + '\0') != std::string::npos;
}

std::vector<KnownRemedy> known_remedies(const std::string& allocator) {
  return upstream_of_allocator(allocator).remedies.value_or(std::vector<KnownRemedy>{});
}

std::vector<std::string> option_setters(const std::string& allocator) {
  return upstream_of_allocator(allocator).setters.value_or(std::vector<std::string>{});
}

std::map<std::string, InsideMarks> inside_marks() {
  std::map<std::string, InsideMarks> marks;
  for (const auto& [allocator, text] : embedded_upstreams()) {
    if (const auto inside = upstream_of_allocator(allocator).inside) marks.emplace(allocator, *inside);
  }
  return marks;
}

Json record_json(const Record& record) { return record; }
Record read_record(const Json& json) { return json.get<Record>(); }

}  // namespace zerotax::record
