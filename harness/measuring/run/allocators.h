#pragma once

#include <string>
#include <vector>

#include "point/plan.h"

namespace zerotax {

/// An allocator with its own probe, or the reason why this build has none.
struct BuiltinAllocator {
  std::string name;
  std::string missing;  ///< reason why the probe is missing; empty if it exists
};
const std::vector<BuiltinAllocator>& builtin_allocators();
/// Returns whether a built-in allocator has this name, even if this build lacks it.
bool is_builtin(const std::string& name);

/// Returns the folder of the probes: ZEROTAX_PROBE_DIR, or else the folder of this program.
std::string probe_folder();
/// Returns the path of a program that only zerotax starts. These programs are in the folder libexec, beside the probes'
/// folder. libexec is on no PATH.
std::string helper_program(const std::string& name);

/// Throws UsageError for a path that LD_PRELOAD cannot hold.
void check_preload_path(const std::string& path, const std::string& remedy);

/// A parsed word of --env.
struct EnvWord {
  std::string allocator;
  std::string key;
  std::string value;
};

/// Parses a word NAME:KEY=VALUE. Throws UsageError if the word has another form, KEY is not the name of a variable, or
/// only zerotax may set KEY.
EnvWord parse_env_word(const std::string& word);

/// Throws UsageError for an invalid word of --allocator (NAME or NAME=PATH). The existence of the allocator is not
/// checked.
void check_allocator_word(const std::string& word);

/// Returns the word that --allocator takes, such as "glibc" or "mine=./libmine.so".
std::string allocator_word(const Allocator& allocator);

/// Returns the allocators for words of --allocator (NAME, NAME=PATH or NAME=deb:RELEASE/PACKAGE) and of --env
/// (NAME:KEY=VALUE). Without names, returns all built-in allocators. Starts each allocator to read its version.
/// Throws UsageError for an unknown or repeated name, for a path that is not a malloc replacement, and for a built-in
/// name given to another library.
std::vector<Allocator> resolve_allocators(const std::vector<std::string>& words,
                                          const std::vector<std::string>& env_words);

}  // namespace zerotax
