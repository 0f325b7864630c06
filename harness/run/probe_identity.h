#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/error.h"
#include "point/allocator.h"

namespace zerotax {

/// Starts an allocator's probe and asks it to identify itself: the files that malloc, calloc, realloc and free come
/// from, its "version", "case.<name>" for each case with its summary, and what it wrote to standard error ("errors").
/// Throws MachineError if the probe is missing, comes from another build, or cannot run on this machine; UsageError if
/// the loader cannot load the allocator; and an Error with the status of a finding if the allocator ends it.
std::map<std::string, std::string> ask_probe(const Allocator& allocator);

/// The remedy for a missing probe.
inline constexpr const char* kMissingProbe =
    "build it with ./run build, or point ZEROTAX_PROBE_DIR at the folder of the probes";

/// The error for a probe that speaks another version of the protocol.
MachineError other_build(const Allocator& allocator);

struct KnownCase {
  std::string summary;  ///< one line
  bool forks = false;   ///< each operation forks, and writes in child and parent
  double memory = 1;    ///< what an operation needs at most, in blocks of the point's size
};

/// The cases by name, as the plain probe has them; it is asked once.
const std::map<std::string, KnownCase>& known_cases();

/// The library to preload into a program so that it has this allocator: nothing for the C library's own. Throws as
/// ask_probe does.
std::optional<std::string> library_to_preload(const Allocator& allocator);

}  // namespace zerotax
