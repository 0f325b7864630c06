#pragma once

#include <string>
#include <utility>
#include <vector>

/// One way to serve the allocations of a program.
struct Contender {
  enum class Kind { kGlibc, kAllocator, kPolicy, kGiven };
  std::string name;
  Kind kind;
  std::string library = {};  ///< absolute path of a library to preload; or empty
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< its settings
  std::string version = {};                                           ///< reported by the library; or empty
};

/// The C library with its own settings; under every other contender, the output must be the same.
inline constexpr const char* kDefault = "glibc";
/// The C library with settings that keep it from giving memory back.
inline constexpr const char* kRaised = "glibc-raised";

/// "glibc", "allocator", "policy" or "given".
const char* kind_name(Contender::Kind kind);

/// glibc, glibc with raised settings, every allocator that a program can be recorded with, and every policy of
/// largecache as the library itself lists them.
std::vector<Contender> all_contenders();

/// The named contenders (NAME, or NAME=PATH of a library to preload), glibc first. Without names, all contenders.
/// Throws UsageError for an unknown or repeated name, and for a library that does not exist.
std::vector<Contender> chosen_contenders(const std::vector<std::string>& words);
