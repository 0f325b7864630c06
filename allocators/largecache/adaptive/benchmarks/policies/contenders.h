#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/allocators.h"

/// One measured implementation of calloc: an allocator, or a policy of largecache.
struct Contender {
  std::string name;            ///< name of the allocator, or of largecache's policy
  bool is_policy;              ///< whether the contender is a policy of largecache
  zerotax::Allocator program;  ///< the allocator for running a program under the contender; without `preload`, the C
                               ///< library's own allocator
  zerotax::Allocator probe;    ///< the allocator for measuring a point under the contender
};

/// Returns all built-in allocators except largecache, then all policies of largecache in the library's order. Throws
/// the errors of resolve_allocators.
std::vector<Contender> all_contenders();

/// The arguments of loop.c.
struct LoopWords {
  std::vector<std::uint64_t> sizes;
  double fraction = 0;
  std::string pattern = "contiguous";
  int threads = 1;
  int budget_ms = 150;
  int idle_ms = 0;
};

/// The output of loop.c.
struct LoopFigures {
  double ns = 0;      ///< nanoseconds per operation
  double faults = 0;  ///< minor faults per operation
  double peak_bytes = 0;
  double idle_bytes = 0;
};

/// Runs loop.c under a contender. Without a contender, measures the limit: a memset of the touched pages alone. Returns
/// std::nullopt if the process failed, was killed, or took longer than two minutes.
std::optional<LoopFigures> run_loop(const Contender* contender, const LoopWords& words);

/// Returns the number of zeroed bytes per operation in the contender's steady state, from the harness's audit; -1 if
/// unknown.
std::int64_t zeroed_bytes(const Contender& contender, std::uint64_t size, double fraction);
