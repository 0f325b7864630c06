#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/allocators.h"

/// One measured way to serve calloc.
struct Contender {
  std::string name;            ///< of the allocator, or of largecache's policy
  bool is_policy;              ///< it is a policy of largecache
  zerotax::Allocator program;  ///< the allocator for a program; without `preload`, the C library's own
  zerotax::Allocator probe;    ///< the allocator for a point of the harness
};

/// Every built-in allocator but largecache, then every policy of it (as the library itself lists them). Throws as
/// resolve_allocators does.
std::vector<Contender> all_contenders();

/// The measurement of one contender: the arguments of loop.c.
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
  double ns = 0;      ///< per operation
  double faults = 0;  ///< per operation
  double peak_bytes = 0;
  double idle_bytes = 0;
};

/// Runs loop.c. Empty if the process failed, was killed or took longer than two minutes. Without a contender, measures
/// the limit: a memset of the touched pages alone.
std::optional<LoopFigures> run_loop(const Contender* contender, const LoopWords& words);

/// Bytes of zeros that the allocator writes per operation in its steady state, by the harness's audit; -1 when
/// it could not be measured.
std::int64_t zeroed_bytes(const Contender& contender, std::uint64_t size, double fraction);
