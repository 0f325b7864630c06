#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "point/plan.h"
#include "prove/result.h"

namespace zerotax::prove {

/// A search for broken promises.
struct ProveRequest {
  std::uint64_t seed = 1;
  double seconds = 60;
  unsigned threads = 4;
  std::vector<std::uint64_t> sizes;  ///< blocks are allocated around these sizes; if empty, a quick search for
                                     ///< thresholds finds the sizes
  std::string api;                   ///< file with further functions (process/rows.h)
  std::vector<std::string> without;  ///< findings and functions to set aside
};

/// Returns the request of a search that is a part of another command (`check --prove`, `bisect --expect prove`), with
/// fixed time, seed and sizes, so that each search tries the same sequences.
ProveRequest fixed_request();

/// Returns the allocators of --allocator and --env words, each with the library to preload. Throws the errors of
/// resolve_allocators.
std::vector<Allocator> proved_allocators(const std::vector<std::string>& words, const std::vector<std::string>& env);

/// Returns the allocators with the library to preload for each. Throws the errors of library_to_preload.
std::vector<Allocator> with_libraries(std::vector<Allocator> allocators);

/// Called again and again with the work in progress, such as "reducing the calls of glibc".
using Say = std::function<void(const std::string& what)>;

/// Searches for a broken promise of one allocator in several processes, until one is found or the time is over. Then
/// reduces the calls that break the promise, and writes these calls as a program. An interrupted search has the verdict
/// kInterrupted. Throws UsageError or MachineError if the library cannot be tested.
Proof prove_allocator(const Allocator& allocator, const ProveRequest& request, const Say& say);

/// Makes one search for each allocator, and reports progress. The results of an interrupted command are incomplete.
Proofs prove_all(const std::vector<Allocator>& allocators, const ProveRequest& request,
                 const std::vector<std::string>& command);

/// Returns the name of the program's file for an allocator.
std::string program_file(const std::string& allocator);

}  // namespace zerotax::prove
