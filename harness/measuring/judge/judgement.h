#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "judge/rule.h"
#include "point/typed_point.h"

namespace zerotax {

/// Whether a property holds at a point. Unknown is neither yes nor no.
enum class YesNo : std::uint8_t { kNo, kYes, kUnknown };
ENUM_WORDS(YesNo, "no", "yes", "unknown")

struct SizeSpan {
  RESULT("range", "Neighboring sizes of the measured grid.");
  FIELD(std::uint64_t, from, "Smallest size of the range, in bytes.", least(1));
  FIELD(std::uint64_t, to, "Largest size of the range, in bytes, inclusive.", least(1));
};

/// The sizes at which a property holds.
struct SizeRanges {
  std::vector<SizeSpan> spans;         ///< ranges of sizes with the answer yes, ascending
  std::vector<std::uint64_t> known;    ///< sizes with an answer, ascending
  std::vector<std::uint64_t> unknown;  ///< sizes without an answer

  /// "always", "some" or "never"; "unknown" if no size has an answer. A single size without an answer rules out
  /// "always".
  [[nodiscard]] const char* word() const;
};

/// The only definition of a range: adjacent measured sizes, with the answer yes at each. A size without an answer ends
/// a range, whether its point was n/a or had no result.
SizeRanges ranges_of(const std::map<std::uint64_t, YesNo>& sizes);

/// The memory over which a redundant call writes zeros.
enum class RedundantKind {
  kFresh,  ///< memory that came from the kernel with this call
  kReuse,  ///< a block that was handed out before, but never written to
};
ENUM_WORDS(RedundantKind, "fresh", "reuse")

/// Calls of one point that write zeros needlessly, all of one kind. The metrics come from the audit pass, and from the
/// calls of the timing pass that got the same sort of memory.
struct RedundantCalls {
  RedundantKind kind;
  std::uint64_t ops;                           ///< number of these calls
  std::uint64_t of_ops;                        ///< number of all later calls; `ops` and `of_ops` are both 1 if all
                                               ///< calls are alike
  std::uint64_t redundant_bytes;               ///< redundant bytes per call
  bool at_most;                                ///< whether redundant_bytes is an upper bound, because some redundant
                                               ///< bytes were counted as whole pages
  std::optional<std::uint64_t> calloc_faults;  ///< no value if the timing pass saw no such call
  std::optional<double> calloc_ns;

  [[nodiscard]] bool every() const { return ops == of_ops; }
};

/// A point's later calls that write zeros needlessly, by kind, the most frequent kind first; no value if unknown. In
/// these calls, much of the block (is_much) is already zero. A stray page or a header does not count, and no measured
/// allocator zeroes a share between is_little and is_much. Tables, sentences and findings all use this judgment.
std::optional<std::vector<RedundantCalls>> redundant_calls(const Point& point);

/// The calls in words, such as "each calloc" or "1 of 7 callocs".
std::string which_calls(const RedundantCalls& calls);

/// The redundant bytes in words, such as "1,048,576" or "up to 1,048,576".
std::string redundant_words(const RedundantCalls& calls);

/// The time of these calls of a point, in words, as a multiple of the fastest other allocator's time (peer_words).
std::string peer_words_of(const FindingSubject& subject, const Point& point, const RedundantCalls& calls);

// Judgments of one point by itself. Rules of findings, the verdicts of a study, and the review of a baseline all use
// these functions, and therefore cannot disagree. kUnknown means that a needed metric was not measured.

/// Whether this number of faults can have populated at least half of `bytes`, in pages of `page` bytes. For 2 MiB or
/// more, one fault may populate a huge page.
bool can_have_populated(std::uint64_t faults, std::uint64_t bytes, std::uint64_t page);

/// Whether a difference in bytes is a change of behavior: more than a tenth of the block. A smaller difference may be a
/// header, or a page at the block's edge.
bool is_change_of_block(std::uint64_t difference, std::uint64_t size_bytes);

/// Whether a difference in bytes that the allocator zeroed is a change of behavior: more than a tenth of the block, or
/// more than 256 KiB. Headers and page edges do not grow with the block.
bool is_change_of_zeroing(std::uint64_t difference, std::uint64_t size_bytes);

/// Number of faults that the kernel may add at any time, such as when it moves a page to compact memory.
inline constexpr std::uint64_t kFaultSlack = 8;

/// Whether `bytes` is much (is_much) of a block of `size` bytes.
YesNo is_much_of(const std::optional<std::uint64_t>& bytes, std::uint64_t size);

/// A point's later calls that write zeros over fresh memory; no value if there are none.
std::optional<RedundantCalls> fresh_calls(const Point& point);

/// A point's later calls that zero a reused block to which nothing was written; no value if there are none, or if other
/// calls of the point zero fresh memory (fresh_calls). Calls that populate memory belong to fresh_calls, because
/// populated memory is fresh.
std::optional<RedundantCalls> reuse_calls(const Point& point);

/// Whether all or some later calls zero fresh memory, or a reused block that was never written to.
YesNo zeroes_fresh(const Point& point);
YesNo zeroes_reused(const Point& point);

/// Whether the first call of the process zeroes its block although much of the block is already zero.
YesNo first_redundant(const Point& point);

/// Zeroed bytes beyond the request: the larger value of the first call and of the later calls.
std::uint64_t bytes_beyond(const Point& point);
/// Whether the bytes beyond the request are more than rounding. A header, the rest of a page and a sixteenth of the
/// block are rounding.
YesNo zeroes_beyond(const Point& point);

/// Whether free writes zeros over at least half of its block (clears_in_free), and whether at least half of the block
/// was already zero (needless_in_free).
YesNo clears_in_free(const Point& point);
YesNo needless_in_free(const Point& point);

/// Whether free, or the next calloc, returns memory. There must be a system call that can return memory, and then
/// faults that populate at least half of the block again. The name of a system call alone is not enough, because
/// madvise with MADV_HUGEPAGE returns nothing. Unknown unless every page is written to.
YesNo returns_memory(const Point& point);

}  // namespace zerotax
