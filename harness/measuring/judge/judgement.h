#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "judge/rule.h"
#include "point/typed_point.h"

namespace zerotax {

/// Whether something holds at a point. Unknown is neither yes nor no.
enum class Answer : std::uint8_t { kNo, kYes, kUnknown };

/// Neighboring sizes of the measured grid, both ends included, in bytes.
struct SizeSpan {
  std::uint64_t from;
  std::uint64_t to;
};

/// The sizes at which something holds.
struct SizeRanges {
  std::vector<SizeSpan> spans;         ///< ranges in which it holds, ascending
  std::vector<std::uint64_t> known;    ///< sizes with an answer, ascending
  std::vector<std::uint64_t> unknown;  ///< sizes without one

  /// "always", "some", "never", or "unknown" where no size has an answer. A size without an answer allows no "always".
  [[nodiscard]] const char* word() const;
};

/// The only definition of a range: sizes that were measured next to each other, with the answer yes at each. A size
/// without an answer ends a range, whether its point was n/a or had no result.
SizeRanges ranges_of(const std::map<std::uint64_t, Answer>& sizes);

/// Where the zeros of a redundant call went.
enum class RedundantKind {
  kFresh,  ///< over memory that came from the kernel with this call
  kReuse,  ///< over a block that had been handed out before, and that nobody had written to
};

/// Calls of one point that write zeros needlessly, all of one kind. The metrics belong together: they come from the
/// audit pass, and from the calls of the timing pass that got the same sort of memory.
struct RedundantCalls {
  RedundantKind kind;
  std::uint64_t ops;                           ///< number of these calls
  std::uint64_t of_ops;                        ///< number of all later calls; both are 1 if all calls are alike
  std::uint64_t redundant_bytes;               ///< per call
  bool at_most;                                ///< redundant_bytes is an upper bound: some of it was found by pages
  std::optional<std::uint64_t> calloc_faults;  ///< nothing if the timing pass saw no such call
  std::optional<double> calloc_ns;

  [[nodiscard]] bool every() const { return ops == of_ops; }
};

/// The kinds of later calls of a point that write zeros needlessly, most frequent first. Such a call finds much of its
/// block (is_much) zero already. A stray page or a header does not count, and no allocator measured so far zeroes a
/// share in between. Nothing if unknown; empty if there are none. Tables, sentences and findings all use this judgment.
std::optional<std::vector<RedundantCalls>> redundant_calls(const Point& point);

/// "each calloc", "1 of 7 callocs".
std::string which_calls(const RedundantCalls& calls);

/// "1,048,576", "up to 1,048,576".
std::string redundant_words(const RedundantCalls& calls);

/// The time of these calls of a point as a multiple of the fastest other allocator's time, in words (peer_words).
std::string peer_words_of(const FindingSubject& subject, const Point& point, const RedundantCalls& calls);

// Judgments of one point by itself. Rules of findings, the verdicts of a study, and the review of a baseline all
// ask here, so that they cannot disagree. kUnknown: the metrics that decide were not measured.

/// Whether this number of faults can have populated at least half of `bytes`, in pages of `page` bytes. From 2 MiB on,
/// a fault may bring a huge page.
bool can_have_populated(std::uint64_t faults, std::uint64_t bytes, std::uint64_t page);

/// Whether a difference in bytes is a change of behaviour: more than a tenth of the block. A smaller one may be a
/// header, or a page at the block's edge.
bool is_change_of_block(std::uint64_t difference, std::uint64_t size_bytes);

/// Faults that the kernel itself may add at any time, as when it moves a page to compact memory.
inline constexpr std::uint64_t kFaultSlack = 8;

/// Whether this is much (is_much) of a block.
Answer is_much_of(const std::optional<std::uint64_t>& bytes, std::uint64_t size);

/// The later calls of a point that write zeros over fresh memory, if there are any.
std::optional<RedundantCalls> fresh_calls(const Point& point);

/// The later calls of a point that zero a reused block that nobody wrote to, if there are any. Memory that a call
/// populates was fresh: such calls belong to fresh_calls, and where calls differ, so does the whole point.
std::optional<RedundantCalls> reuse_calls(const Point& point);

/// Whether all or some later calls do this.
Answer zeroes_fresh(const Point& point);
Answer zeroes_reused(const Point& point);

/// Whether the first call of the process finds much of its block zero already, and zeroes it.
Answer first_redundant(const Point& point);

/// Zeroed bytes beyond the request, in the first call or the later ones, whichever has more.
std::uint64_t bytes_beyond(const Point& point);
/// Whether these bytes are more than rounding. A header, the rest of a page and a sixteenth of the block are rounding.
Answer zeroes_beyond(const Point& point);

/// Whether free writes zeros over at least half of its block, and whether at least half of the block was zero then.
Answer clears_in_free(const Point& point);
Answer needless_in_free(const Point& point);

/// Whether free, or the next calloc, gives memory back. This takes a system call that can, and then faults that bring
/// at least half of the block again. The name of a call alone says little (MADV_HUGEPAGE gives nothing back). Unknown
/// unless every page is written to.
Answer returns_memory(const Point& point);

}  // namespace zerotax
