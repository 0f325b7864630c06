#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "record/remedies.h"

namespace zerotax::advise {

/// Something that a program can be run with: settings in its environment, an allocator that is preloaded, or both.
struct Remedy {
  std::string name;       ///< short: "glibc: raised thresholds", "jemalloc", "jemalloc: no decay"
  std::string allocator;  ///< whose settings they are, or which is preloaded
  Measured<std::string> version{NotAvailable{"its library was not asked"}};  ///< of the allocator that is preloaded
  OrNull<std::string> preload;  ///< path of its library; none: the program keeps its own
  std::map<std::string, std::string> env;
  std::vector<record::Cause> causes;  ///< of zeroing, that it could matter for; empty: any
  std::string words;                  ///< what it does
  std::string costs;                  ///< what it may cost
  std::vector<std::size_t> parts;     ///< the remedies that it is made of
  bool parts_must_gain = false;       ///< it is tried if each of them gained; else if none was worse
};

using record::allocator_name;

/// LD_PRELOAD as the user has it, without the allocators in it.
std::string other_preloads();

/// How many things somebody has to set.
std::size_t settings(const Remedy& remedy);

/// What is put before a command: "LD_PRELOAD=/usr/lib/libjemalloc.so.2 MALLOC_CONF=thp:always", quoted for a shell.
/// What the user's own LD_PRELOAD has besides allocators stays behind it.
std::string paste_text(const Remedy& remedy);

/// The variables of a run under it, LD_PRELOAD included, on top of our own environment.
std::map<std::string, std::string> environment_of(const Remedy& remedy);

/// Whether two remedies can be used together: at most one preloads, and no variable has two values that cannot be
/// joined. Some variables hold lists of settings: GLIBC_TUNABLES, MALLOC_CONF, SCUDO_OPTIONS.
bool can_combine(const Remedy& one, const Remedy& other);

/// Both together, with name, settings, words and costs of both; its `parts` are empty.
Remedy combined(const Remedy& one, const Remedy& other);

}  // namespace zerotax::advise
