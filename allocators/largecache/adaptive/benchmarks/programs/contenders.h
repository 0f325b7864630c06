#pragma once

#include <string>
#include <utility>
#include <vector>

/// One implementation of malloc, with its settings.
struct Contender {
  enum class Kind { kGlibc, kAllocator, kPolicy, kGiven };
  std::string name;
  Kind kind;
  std::string library = {};  ///< absolute path of a library to preload; empty for no library
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< settings in the environment
  std::string version = {};                                           ///< version that the library reports; may be
                                                                      ///< empty
};

/// The C library with its default settings. A program must print the same output under every other contender.
inline constexpr const char* kDefault = "glibc";
/// The C library with raised settings, so that it does not return memory.
inline constexpr const char* kRaised = "glibc-raised";

/// Returns the contender's kind: "glibc", "allocator", "policy" or "given".
const char* kind_name(Contender::Kind kind);

/// Returns glibc, glibc with raised settings, every allocator under which a program can be recorded, and every policy
/// of largecache in the library's order.
std::vector<Contender> all_contenders();

/// Returns the named contenders (NAME, or NAME=PATH of a library to preload), glibc first. Without names, returns all
/// contenders. Throws UsageError for an unknown or repeated name, and for a library that does not exist.
std::vector<Contender> chosen_contenders(const std::vector<std::string>& words);
