#pragma once

#include <string>
#include <utility>
#include <vector>

/// One way to serve the allocations of a program.
struct Contender {
  enum class Kind { kGlibc, kAllocator, kPolicy, kGiven };
  std::string name;
  Kind kind;
  std::string library = {};                                           ///< preloaded, by its whole path; or empty
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< its settings
  std::string version = {};                                           ///< as the library says; or empty
};

/// The C library with its own settings; every other contender's output must be as under it.
inline constexpr const char* kDefault = "glibc";
/// The C library with settings that keep it from giving memory back.
inline constexpr const char* kRaised = "glibc-raised";

/// "glibc", "allocator", "policy" or "given".
const char* kind_name(Contender::Kind kind);

/// glibc, glibc with raised settings, every allocator that a program can be recorded with, and every policy of
/// largecache as the library itself lists them.
std::vector<Contender> all_contenders();

/// Those that are named, NAME or NAME=PATH of a library to preload, glibc first; all of them if none is named. Throws
/// UsageError for a name that is unknown or doubled, and a library that is not there.
std::vector<Contender> chosen_contenders(const std::vector<std::string>& words);
