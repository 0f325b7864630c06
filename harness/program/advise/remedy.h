#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "record/remedies.h"

namespace zerotax::advise {

/// A change in how a program is run: settings in its environment, a preloaded allocator, or both.
struct Remedy {
  std::string name;       ///< short name: "glibc: raised thresholds", "jemalloc", "jemalloc: no decay"
  std::string allocator;  ///< allocator to which the settings belong, or the preloaded allocator
  Measured<std::string> version{NotAvailable{"its library was not asked"}};  ///< version of the preloaded allocator
  OrNull<std::string> preload;  ///< path of the preloaded library; null if the program keeps its own allocator
  std::map<std::string, std::string> env;
  std::vector<std::string> launcher{};  ///< words before the program: a command that changes a property of the process
                                        ///< and then executes the program
  std::string source{};  ///< line to write in the program before its forks; empty if the settings suffice
  std::map<std::string, std::string> hook{};  ///< variables that make the change of `source` in a trial (ForkHook)
  std::vector<record::Cause> causes;          ///< causes of zeroing for which the remedy may help; empty for any
  std::string words;                          ///< effect of the remedy
  std::string costs;                          ///< possible costs of the remedy
  std::vector<std::size_t> parts;             ///< indices of the remedies that this remedy combines
  bool parts_must_gain = false;               ///< whether to try the combination only if each part gained; otherwise it
                                              ///< suffices that no part was slower
};

using record::allocator_name;

/// Returns the remedy to turn off transparent huge pages for the program and its children. The program of the launcher
/// is empty if perl(1) is not installed.
Remedy without_huge_pages();

/// Returns the user's LD_PRELOAD without allocators.
std::string other_preloads();

/// Returns the number of settings that a user must make.
std::size_t settings(const Remedy& remedy);

/// Returns the text to put before a command, quoted for a shell: "LD_PRELOAD=/usr/lib/libjemalloc.so.2
/// MALLOC_CONF=thp:always". In LD_PRELOAD, the remedy's library comes first. Libraries of the user's own LD_PRELOAD
/// follow, except allocators.
std::string paste_text(const Remedy& remedy);

/// Returns the variables of a run under the remedy, including LD_PRELOAD and the variables of a hook. The run gets
/// these variables in addition to this command's environment.
std::map<std::string, std::string> environment_of(const Remedy& remedy);

/// Whether two remedies can be used together. At most one may preload an allocator, and no variable may have two values
/// that cannot be joined. GLIBC_TUNABLES, MALLOC_CONF and SCUDO_OPTIONS are lists of settings, which can be joined.
bool can_combine(const Remedy& one, const Remedy& other);

/// Combines two remedies: names, settings, words and costs. Leaves the result's `parts` empty.
Remedy combined(const Remedy& one, const Remedy& other);

}  // namespace zerotax::advise
