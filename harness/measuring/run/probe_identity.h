#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/error.h"
#include "point/plan.h"

namespace zerotax {

struct KnownCase {
  std::string summary;  ///< one line of description
  bool forks = false;   ///< whether each operation forks, and writes in child and parent
  double memory = 1;    ///< maximum memory of an operation, as a multiple of the point's size
};

/// A probe's description of itself and of its allocator.
struct ProbeAnswer {
  // Files that define these functions.
  std::string malloc_file;
  std::string calloc_file;
  std::string realloc_file;
  std::string free_file;
  std::string version;   ///< version of the allocator; empty if the allocator states no version
  std::string known_as;  ///< name of the built-in allocator in this probe; empty for any other allocator
  std::map<std::string, KnownCase> cases;
  std::string errors;  ///< output on standard error
};

/// Starts an allocator's probe and reads its answer. Throws MachineError if the probe is missing, comes from another
/// build, or cannot run on this machine. Throws UsageError if the loader cannot load the allocator. Throws an Error
/// with the status of a finding if the allocator ends the probe.
ProbeAnswer ask_probe(const Allocator& allocator);

/// The remedy for a missing probe.
inline constexpr const char* kMissingProbe =
    "build it with ./run build, or point ZEROTAX_PROBE_DIR at the folder of the probes";

/// Returns the error for a probe that uses another version of the protocol.
MachineError other_build(const Allocator& allocator);

/// Returns the cases of the plain probe by name. Only the first call starts the probe.
const std::map<std::string, KnownCase>& known_cases();

/// Returns the library to preload into a program that should use this allocator, or nothing for the C library's own
/// allocator. Throws the same errors as ask_probe().
std::optional<std::string> library_to_preload(const Allocator& allocator);

}  // namespace zerotax
