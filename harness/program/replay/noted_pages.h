#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "replay/calls_file.h"

namespace zerotax::replay {

using PageRange = std::pair<std::uint64_t, std::uint64_t>;  ///< first page, pages

/// Page ranges of blocks, noted in one pass through the events and looked up by block in the next.
class NotedPages {
 public:
  void add(std::uint64_t block, std::uint32_t returns, const std::vector<PageRange>& ranges) {
    notes_.push_back({block, ranges_.size(), returns, static_cast<std::uint32_t>(ranges.size())});
    ranges_.insert(ranges_.end(), ranges.begin(), ranges.end());
  }
  /// Call it after the last add, and before any look-up.
  void sort() {
    std::sort(notes_.begin(), notes_.end(),
              [](const Note& a, const Note& b) { return a.block != b.block ? a.block < b.block : a.first < b.first; });
  }

  [[nodiscard]] bool has(std::uint64_t block) const {
    const auto found = first_of(block);
    return found != notes_.end() && found->block == block;
  }
  /// Calls visit(returns, ranges) for each note on a block, in order.
  template <typename Visit>
  void for_each(std::uint64_t block, Visit visit) const {
    for (auto note = first_of(block); note != notes_.end() && note->block == block; ++note) {
      const auto begin = ranges_.begin() + static_cast<std::ptrdiff_t>(note->first);
      visit(note->returns, std::vector<PageRange>(begin, begin + static_cast<std::ptrdiff_t>(note->count)));
    }
  }
  [[nodiscard]] std::size_t bytes() const { return notes_.size() * sizeof(Note) + ranges_.size() * sizeof(PageRange); }

 private:
  struct Note {
    std::uint64_t block;
    std::uint64_t first;    ///< index of its first range
    std::uint32_t returns;  ///< number of times that pages of the block were returned before
    std::uint32_t count;    ///< number of its ranges
  };

  [[nodiscard]] std::deque<Note>::const_iterator first_of(std::uint64_t block) const {
    return std::lower_bound(notes_.begin(), notes_.end(), block,
                            [](const Note& note, std::uint64_t wanted) { return note.block < wanted; });
  }

  // Unlike a vector, a deque does not take extra memory while it grows.
  std::deque<Note> notes_;
  std::deque<PageRange> ranges_;
};

/// The pages of a process's blocks in a recording.
struct RecordedPages {
  NotedPages populated;  ///< of large blocks and of the program's mappings; each note holds after a number of returns
                         ///< of the block
  NotedPages huge;       ///< pages for which the program requested huge pages

  [[nodiscard]] std::size_t bytes() const { return populated.bytes() + huge.bytes(); }
};

/// Reads all events first, because a block's populated pages are recorded at its end, but written at its begin.
/// `first_block`: number of blocks that the process begins with. Throws UsageError as `check_memory` does.
RecordedPages recorded_pages(const CallsFile& file, std::size_t process, std::uint64_t first_block);

/// Number of events between two checks of the memory.
inline constexpr std::uint64_t kEventsOfCheck = 1024;

/// Throws UsageError if reading a recording takes too much memory: `bytes` for its pages, in addition to its blocks.
void check_memory(const CallsFile& file, std::size_t process, std::uint64_t event, std::size_t bytes);

}  // namespace zerotax::replay
