#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/result.h"

namespace zerotax::record {

/// One of the `remedies` in allocators/<name>/upstream.json, whose keys these are
/// (results/schema/upstream.schema.json).
struct KnownRemedy {
  std::string name;
  std::map<std::string, std::string> env;
  std::vector<Cause> causes;
  std::string words;
  std::string costs;
  std::optional<bool> always;
  std::optional<bool> threads;
  std::optional<bool> huge_pages;
  std::optional<std::string> since;
};

/// Those of an allocator, in the order of the file.
std::vector<KnownRemedy> known_remedies(const std::string& allocator);

/// The name in allocators/ of the allocator in a library or program: "glibc" of "/lib/x86_64-linux-gnu/libc.so.6".
/// Empty if it is not one of them.
std::string allocator_name(const std::string& file);

}  // namespace zerotax::record
