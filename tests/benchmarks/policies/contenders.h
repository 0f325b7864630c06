#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/allocators.h"

/// One way to serve calloc that is measured.
struct Contender {
  std::string name;            ///< of the allocator, or of largecache's policy
  bool is_policy;              ///< of largecache
  zerotax::Allocator program;  ///< for a program: `preload` is set, or empty for the C library's own
  zerotax::Allocator probe;    ///< for a point of the harness
};

/// Every built-in allocator but largecache, then every policy of it (as the library itself lists them). Throws as
/// resolve_allocators does.
std::vector<Contender> all_contenders();

/// What to measure of one contender: the arguments of loop.c.
struct LoopWords {
  std::vector<std::uint64_t> sizes;
  double fraction = 0;
  std::string pattern = "contiguous";
  int threads = 1;
  int budget_ms = 150;
  int idle_ms = 0;
};

/// What loop.c prints.
struct LoopFigures {
  double ns = 0;      ///< per operation
  double faults = 0;  ///< per operation
  double peak_bytes = 0;
  double idle_bytes = 0;
};

/// Empty when the process failed, was killed or took longer than two minutes. No contender: the limit, a memset of
/// the touched pages alone.
std::optional<LoopFigures> run_loop(const Contender* contender, const LoopWords& words);

/// Bytes of zeros that the allocator writes per operation in its steady state, by the harness's audit; -1 when
/// it could not be measured.
std::int64_t zeroed_bytes(const Contender& contender, std::uint64_t size, double fraction);
