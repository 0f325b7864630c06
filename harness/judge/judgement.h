#pragma once

#include <cstdint>
#include <optional>

#include "judge/redundant_calls.h"
#include "judge/size_ranges.h"
#include "point/typed_point.h"

namespace zerotax {

// What is judged of one point by itself. Rules of findings, the verdicts of a study, and the review of a baseline all
// ask here, so that they cannot disagree. kUnknown: the metrics that decide were not measured.

/// Whether so many faults can have populated half of this, at least, in pages of so many bytes. From 2 MiB on a fault
/// may bring a huge page.
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

/// Whether later calls do, all of them or some.
Answer zeroes_fresh(const Point& point);
Answer zeroes_reused(const Point& point);

/// Whether the first call of the process finds much of its block zero already, and zeroes it.
Answer first_redundant(const Point& point);

/// Zeroed bytes beyond the request, in the first call or the later ones, whichever has more.
std::uint64_t bytes_beyond(const Point& point);
/// Whether these are more than rounding: a header, the rest of a page, and a sixteenth of the block are.
Answer zeroes_beyond(const Point& point);

/// Whether free writes zeros over at least half of its block, and whether at least half of the block was zero then.
Answer clears_in_free(const Point& point);
Answer needless_in_free(const Point& point);

/// Whether free, or the next calloc, gives memory back: a call that can, and then faults that bring at least half of
/// the block again. The name of a call alone says little (MADV_HUGEPAGE gives nothing back). Unknown unless every page
/// is written to.
Answer returns_memory(const Point& point);

}  // namespace zerotax
