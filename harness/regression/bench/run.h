#pragma once

#include "bench/result.h"
#include "bench/suite.h"

namespace zerotax::bench {

struct Request {
  std::vector<std::string> words;
  std::size_t rounds = 16;  ///< pairs of times for each benchmark, at least
};

/// Rounds that are enough to prove that one of so many depends on the order.
std::size_t fewest_rounds(std::size_t benchmarks);

/// Counts and times each benchmark alone and in order, counts all of them shuffled, and where one depends on the order,
/// finds what does it and which setting ends it. A signal ends it early. Throws UsageError for a program that fails.
Report run(const Suite& suite, const Request& request);

}  // namespace zerotax::bench
