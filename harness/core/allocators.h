#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace zerotax {

/// An allocator under test, in one configuration.
struct Allocator {
  std::string name;
  std::string probe;                       ///< path of the probe program
  std::optional<std::string> preload;      ///< path of the library preloaded into it; empty if linked
  std::map<std::string, std::string> env;  ///< its configuration
  std::string version;                     ///< as the running library says; may be a build-id, or empty
};

/// An allocator that has a probe of its own, or why it has none in this build.
struct BuiltinAllocator {
  std::string name;
  std::string missing;  ///< empty if it is there
};
const std::vector<BuiltinAllocator>& builtin_allocators();

/// The folder of the probes: ZEROTAX_PROBE_DIR, else the folder of this program.
std::string probe_folder();

/// Throws UsageError for a path that LD_PRELOAD cannot hold.
void check_preload_path(const std::string& path, const std::string& remedy);

/// A word of --env, taken apart.
struct EnvWord {
  std::string allocator;
  std::string key;
  std::string value;
};

/// Throws UsageError for what is not NAME:KEY=VALUE, a KEY that zerotax sets itself, which would silently be
/// overwritten, and one that is not the name of a variable.
EnvWord parse_env_word(const std::string& word);

/// Turns --allocator words (NAME or NAME=PATH) and --env words (NAME:KEY=VALUE) into allocators whose versions were
/// read by starting each. No names: every built-in one. Throws UsageError for unknown or doubled names, and for a path
/// that is not a malloc replacement.
std::vector<Allocator> resolve_allocators(const std::vector<std::string>& words,
                                          const std::vector<std::string>& env_words);

/// {"name", "version", "preload", "env"}.
Json allocator_json(const Allocator& allocator);

/// The version as a metric: a string, or {"na": ...}.
Json version_json(const Allocator& allocator);

/// "jemalloc 5.3.0"; the name alone where the version is not known.
std::string name_and_version(const Allocator& allocator);

}  // namespace zerotax
