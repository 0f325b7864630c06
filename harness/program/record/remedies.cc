#include "record/remedies.h"

#include <fmt/format.h>
#include <gnu/libc-version.h>

#include <cctype>

#include "base/error.h"
#include "base/names.h"
#include "judge/projects.h"
#include "os/regular_file.h"
#include "record/inside.h"
#include "run/allocators.h"

namespace zerotax::record {
namespace {

/// The names by which an allocator's code knows a setting: its variable, the names in a list, and mimalloc's options
/// without their prefix.
std::vector<std::string> names_in_code(const std::string& variable, const std::string& value) {
  constexpr std::string_view kMimalloc = "MIMALLOC_";
  if (is_list(variable)) return names_in_list(variable, value);
  if (!variable.starts_with(kMimalloc)) return {variable};
  std::string option = variable.substr(kMimalloc.size());
  std::transform(option.begin(), option.end(), option.begin(), [](unsigned char each) { return std::tolower(each); });
  return {option};
}

bool is_glibc(const std::string& allocator) { return allocator == "glibc"; }

/// Whether the file shows that the allocator in it does not know one of these settings.
bool lacks_any(const std::string& file, const Variables& env) {
  for (const auto& [variable, value] : env) {
    for (const std::string& name : names_in_code(variable, value)) {
      if (!has_text(file, name).value_or(true)) return true;
    }
  }
  return false;
}

}  // namespace

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

std::string why_no_effect(const KnownRemedy& remedy, const PresentAllocator& allocator, const Variables& now) {
  const std::string& version = allocator.version;
  if (lacks(version, remedy.since)) {
    return fmt::format("available from {} on; this is {}", *remedy.since, version);
  }
  if (remedy.before && !version.empty() && !lacks(version, remedy.before)) {
    return fmt::format("available before {} only; this is {}", *remedy.before, version);
  }
  const Variables env = settings_of(remedy, allocator);
  if (version.empty() && !is_glibc(allocator.name) && lacks_any(allocator.file, env)) {
    return "this build of the allocator does not know it";
  }
  if (remedy.undoes && replaced_by(now, env).empty()) return "it undoes a setting that is not there";
  return are_set(now, env) ? "already set" : "";
}

std::string version_of(const std::string& library) {
  const std::string name = allocator_name(library);
  if (is_glibc(name)) return ::gnu_get_libc_version();
  // Asking for the version loads the library.
  if (name.empty() || !is_of_trusted_user(library)) return "";
  try {
    const std::string version = resolve_allocators({"present=" + library}, {}).front().version;
    // A library that states no version has its build ID.
    return version.find('.') == std::string::npos ? "" : version;
  } catch (const Error&) {
    return "";
  }
}

std::string allocator_name(const std::string& file) {
  const std::string name = file_name(file);
  if (name.starts_with("libc.so") || name.starts_with("libc-")) return "glibc";
  // Those whose projects are known, whether or not this build has them.
  for (const auto& [allocator, upstream] : embedded_upstreams()) {
    if (name.find(allocator) != std::string::npos && name.starts_with("lib")) return allocator;
  }
  return "";
}

}  // namespace zerotax::record
