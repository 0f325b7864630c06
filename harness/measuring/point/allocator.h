#pragma once

#include <map>
#include <optional>
#include <string>

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

/// {"name", "version", "preload", "env"}.
Json allocator_json(const Allocator& allocator);

/// The version as a metric: a string, or {"na": ...}.
Json version_json(const Allocator& allocator);

/// "jemalloc 5.3.0"; the name alone where the version is not known.
std::string name_and_version(const Allocator& allocator);

}  // namespace zerotax
