#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "judge/rule.h"

namespace zerotax {

/// Where the zeros of a redundant call went.
enum class RedundantKind {
  kFresh,  ///< over memory that came from the kernel with this call
  kReuse,  ///< over a block that had been handed out before, and that nobody had written to
};

/// Calls of one point that write zeros needlessly, all of one kind. The metrics belong together: they are of the audit
/// pass, and of those calls of the timing pass that got the same sort of memory.
struct RedundantCalls {
  RedundantKind kind;
  std::uint64_t ops;                           ///< this many
  std::uint64_t of_ops;                        ///< of so many later calls; both 1 where every call is alike
  std::uint64_t redundant_bytes;               ///< of each
  bool at_most;                                ///< redundant_bytes is an upper bound: some of it was found by pages
  std::optional<std::uint64_t> calloc_faults;  ///< nothing if the timing pass saw no such call
  std::optional<double> calloc_ns;

  [[nodiscard]] bool every() const { return ops == of_ops; }
};

/// The kinds of later calls of a point that write zeros needlessly, most frequent first: those that found much of their
/// block (is_much) zero already. A stray page or a header does not count; and no allocator measured so far zeroes a
/// share in between. Nothing if it is not known; empty if there are none. This is where a call is judged: tables,
/// sentences and findings show what it says.
std::optional<std::vector<RedundantCalls>> redundant_calls(const Point& point);

/// "each calloc", "1 of 7 callocs".
std::string which_calls(const RedundantCalls& calls);

/// "1,048,576", "up to 1,048,576".
std::string redundant_words(const RedundantCalls& calls);

/// How many times as long these calls of a point take as the fastest other allocator's, in words (peer_words).
std::string peer_words_of(const FindingSubject& subject, const Point& point, const RedundantCalls& calls);

}  // namespace zerotax
