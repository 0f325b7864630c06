#pragma once

#include <string>
#include <vector>

#include "point/plan.h"

namespace zerotax {

/// An allocator that has a probe of its own, or why it has none in this build.
struct BuiltinAllocator {
  std::string name;
  std::string missing;  ///< empty if it is there
};
const std::vector<BuiltinAllocator>& builtin_allocators();
/// Whether one has this name, in this build or not.
bool is_builtin(const std::string& name);

/// The folder of the probes: ZEROTAX_PROBE_DIR, else the folder of this program.
std::string probe_folder();
/// The path of a program that only zerotax starts. These programs are in the folder libexec beside the probes' folder,
/// so that no PATH contains them.
std::string helper_program(const std::string& name);

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

/// Throws UsageError for an invalid word of --allocator, NAME or NAME=PATH. It is not checked whether the allocator
/// exists.
void check_allocator_word(const std::string& word);

/// Turns --allocator words (NAME, NAME=PATH or NAME=deb:RELEASE/PACKAGE) and --env words (NAME:KEY=VALUE) into
/// allocators whose versions were read by starting each. No names: every built-in one. Throws UsageError for unknown or
/// doubled names, for a path that is not a malloc replacement, and for one of another allocator than the built-in one
/// whose name it is given.
std::vector<Allocator> resolve_allocators(const std::vector<std::string>& words,
                                          const std::vector<std::string>& env_words);

}  // namespace zerotax
