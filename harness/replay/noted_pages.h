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

/// Ranges of pages of blocks: noted in one pass through the events, and looked up by block in the next.
class NotedPages {
 public:
  void add(std::uint64_t block, std::uint32_t returns, const std::vector<PageRange>& ranges) {
    notes_.push_back({block, ranges_.size(), returns, static_cast<std::uint32_t>(ranges.size())});
    ranges_.insert(ranges_.end(), ranges.begin(), ranges.end());
  }
  /// No more will be added.
  void sort() {
    std::sort(notes_.begin(), notes_.end(),
              [](const Note& a, const Note& b) { return a.block != b.block ? a.block < b.block : a.first < b.first; });
  }

  [[nodiscard]] bool has(std::uint64_t block) const {
    const auto found = first_of(block);
    return found != notes_.end() && found->block == block;
  }
  /// Calls visit(returns, ranges) for each note on a block, in their order.
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
    std::uint64_t first;    ///< of its ranges
    std::uint32_t returns;  ///< of pages of the block before it
    std::uint32_t count;    ///< of its ranges
  };

  [[nodiscard]] std::deque<Note>::const_iterator first_of(std::uint64_t block) const {
    return std::lower_bound(notes_.begin(), notes_.end(), block,
                            [](const Note& note, std::uint64_t wanted) { return note.block < wanted; });
  }

  // Unlike a vector, they take no more memory while they grow.
  std::deque<Note> notes_;
  std::deque<PageRange> ranges_;
};

/// What a recording says of the pages of a process's blocks.
struct RecordedPages {
  NotedPages populated;  ///< of large blocks, and of what the program mapped: each after so many returns of the block
  NotedPages huge;       ///< for which the program asked for huge pages

  [[nodiscard]] std::size_t bytes() const { return populated.bytes() + huge.bytes(); }
};

/// The populated pages of a block are known when it ends, and are written when it begins. `first_block`: the blocks
/// that the process begins with. Throws UsageError as `check_memory` does.
RecordedPages recorded_pages(const CallsFile& file, std::size_t process, std::uint64_t first_block);

/// Events after which the memory that was taken is looked at.
inline constexpr std::uint64_t kEventsOfCheck = 1024;

/// Throws UsageError if a recording takes more memory to be read than any of ours should: `bytes` for its pages, and
/// that of its blocks.
void check_memory(const CallsFile& file, std::size_t process, std::uint64_t event, std::size_t bytes);

}  // namespace zerotax::replay
