#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/error.h"
#include "point/plan.h"

namespace zerotax {

struct KnownCase {
  std::string summary;  ///< one line
  bool forks = false;   ///< each operation forks, and writes in child and parent
  double memory = 1;    ///< what an operation needs at most, in blocks of the point's size
};

/// What a probe says of itself, and of the allocator in it.
struct ProbeAnswer {
  // The files that these functions come from.
  std::string malloc_file;
  std::string calloc_file;
  std::string realloc_file;
  std::string free_file;
  std::string version;   ///< empty: it states none
  std::string known_as;  ///< the built-in allocator that it is; empty: none
  std::map<std::string, KnownCase> cases;
  std::string errors;  ///< written to standard error
};

/// Starts an allocator's probe and asks it. Throws MachineError if the probe is missing, comes from another build, or
/// cannot run on this machine; UsageError if the loader cannot load the allocator; and an Error with the status of a
/// finding if the allocator ends it.
ProbeAnswer ask_probe(const Allocator& allocator);

/// The remedy for a missing probe.
inline constexpr const char* kMissingProbe =
    "build it with ./run build, or point ZEROTAX_PROBE_DIR at the folder of the probes";

/// The error for a probe that speaks another version of the protocol.
MachineError other_build(const Allocator& allocator);

/// The cases by name, as the plain probe has them; it is asked once.
const std::map<std::string, KnownCase>& known_cases();

/// The library to preload into a program so that it has this allocator: nothing for the C library's own. Throws as
/// ask_probe does.
std::optional<std::string> library_to_preload(const Allocator& allocator);

}  // namespace zerotax
