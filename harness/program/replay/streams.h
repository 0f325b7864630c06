#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "os/unique_fd.h"
#include "record/calls/address_map.h"
#include "record/calls/shared_array.h"
#include "replay/calls_file.h"
#include "replay/process/prepared.h"

namespace zerotax::replay {

/// A slot for a block. The slot of the block that ended last is reused first.
struct Slot {
  std::uint64_t bytes = 0;      ///< size of the block. In an unused slot: 1 + the slot that became unused before it; 0
                                ///< if there is no such slot
  std::uint64_t populated = 0;  ///< size of the block's populated pages
  std::uint64_t unknown = 0;    ///< size of further pages that may be populated, because the process's end was not seen
  std::uint32_t returns = 0;    ///< number of times that pages of the block were returned
  std::uint32_t turns = 0;      ///< number of operations on the slot so far
  bool mapped = false;          ///< whether the program mapped the block for itself
};

/// The blocks of a process between two events. A copy (for a fork) shares all data with the original until one of the
/// two changes the data.
class Blocks {
 public:
  std::uint64_t count = 0;
  std::uint64_t live_bytes = 0;

  [[nodiscard]] Slot slot(std::uint32_t number) const { return slots_.at(number); }
  Slot& edit(std::uint32_t number) { return slots_.edit(number); }
  [[nodiscard]] std::uint64_t slots() const { return used_; }

  std::uint32_t take_slot() {
    if (unused_ == 0) return used_++;
    const std::uint32_t slot = unused_ - 1;
    unused_ = static_cast<std::uint32_t>(slots_.edit(slot).bytes);
    return slot;
  }
  void give_back(std::uint32_t slot) {
    slots_.edit(slot).bytes = unused_;
    unused_ = slot + 1;
  }

  /// Returns the slot of a block by its number; std::nullopt if the block has ended or has not begun.
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint64_t block) const { return narrow(live_.find(key(block))); }
  std::optional<std::uint32_t> take(std::uint64_t block) { return narrow(live_.take(key(block))); }
  /// Begins the next block in a slot.
  void begin(std::uint32_t slot) { live_.insert(key(count++), slot); }

 private:
  /// Returns the key of a block, shifted because the map ignores the lowest bits of an address.
  static std::uint64_t key(std::uint64_t block) { return (block + 1) << 4; }
  static std::optional<std::uint32_t> narrow(std::optional<std::uint64_t> slot) {
    return slot ? std::optional(static_cast<std::uint32_t>(*slot)) : std::nullopt;
  }

  record::AddressMap live_;
  record::SharedArray<Slot> slots_;
  std::uint32_t used_ = 0;    ///< number of slots that were ever used
  std::uint32_t unused_ = 0;  ///< 1 + the slot that is used next; 0 if no slot is unused
};

/// The prepared file while it is written. Throws MachineError if the file takes more than half of the free space.
class PreparedFile {
 public:
  PreparedFile(std::string path, std::uint32_t processes);

  /// Appends a block and returns its offset.
  std::uint64_t append_block(const std::string& operations);
  /// Appends the offsets of the streams, and returns the offset of this list.
  std::uint64_t append_streams(const std::vector<std::uint64_t>& first_blocks);
  void link(std::uint64_t block, std::uint64_t next);
  void set_process(std::uint32_t process, const prepared_process& row);

 private:
  void write(std::uint64_t offset, const void* from, std::size_t bytes);

  std::string path_;
  UniqueFd fd_;
  std::uint64_t most_bytes_ = ~std::uint64_t{0};
  std::uint64_t end_ = 0;
};

/// The threads of one process. Puts operations into the threads' streams, and the turns between them.
class Streams {
 public:
  /// If `ordered`, threads take turns.
  Streams(PreparedFile& file, bool ordered) : file_(file), ordered_(ordered) {}

  /// Makes this thread the current thread, and starts it if necessary. Returns false if the thread has ended, or if no
  /// thread is left that could start it.
  bool turn_to(std::uint32_t thread);
  void end_thread();
  /// Append an operation of the current thread, and the numbers of the operation.
  void begin(prepared_operation operation);
  void number(std::uint64_t value);

  [[nodiscard]] bool has_current() const { return current_ != nullptr; }

  /// Closes the streams and returns the offset of the list of their offsets.
  std::uint64_t finish();
  [[nodiscard]] std::uint64_t threads() const { return first_blocks_.size(); }
  /// Returns the largest number of live threads at one time.
  [[nodiscard]] std::size_t most_live() const { return most_live_; }

 private:
  struct Stream {
    std::uint32_t number = 0;  ///< index of the stream in the prepared file
    std::string pending;
    std::uint64_t last_block = 0;
  };
  void flush(Stream& stream);
  bool start(std::uint32_t thread);

  PreparedFile& file_;
  bool ordered_;
  std::map<std::uint32_t, Stream> live_;
  std::vector<std::uint64_t> first_blocks_;
  std::vector<bool> known_;  ///< whether each thread was ever started
  Stream* current_ = nullptr;
  std::uint32_t current_thread_ = 0;
  std::uint64_t turn_ = 0;
  std::size_t most_live_ = 0;
};

using PageRange = std::pair<std::uint64_t, std::uint64_t>;  ///< first page, number of pages

/// Page ranges of blocks, noted in one pass through the events and looked up by block in the next pass.
class NotedPages {
 public:
  void add(std::uint64_t block, std::uint32_t returns, const std::vector<PageRange>& ranges) {
    notes_.push_back({block, ranges_.size(), returns, static_cast<std::uint32_t>(ranges.size())});
    ranges_.insert(ranges_.end(), ranges.begin(), ranges.end());
  }
  /// Must be called after the last add() and before any lookup.
  void sort() {
    std::sort(notes_.begin(), notes_.end(),
              [](const Note& a, const Note& b) { return a.block != b.block ? a.block < b.block : a.first < b.first; });
  }

  [[nodiscard]] bool has(std::uint64_t block) const {
    const auto found = first_of(block);
    return found != notes_.end() && found->block == block;
  }
  /// Calls visit(returns, ranges) for each note on a block, in the order of the notes.
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
    std::uint64_t first;    ///< index of the note's first range
    std::uint32_t returns;  ///< number of earlier returns of pages of the block
    std::uint32_t count;    ///< number of ranges in the note
  };

  [[nodiscard]] std::deque<Note>::const_iterator first_of(std::uint64_t block) const {
    return std::lower_bound(notes_.begin(), notes_.end(), block,
                            [](const Note& note, std::uint64_t wanted) { return note.block < wanted; });
  }

  // A deque does not take extra memory while it grows, unlike a vector.
  std::deque<Note> notes_;
  std::deque<PageRange> ranges_;
};

/// The pages of a process's blocks in a recording.
struct RecordedPages {
  NotedPages populated;  ///< populated pages of large blocks and mappings; each note has the number of earlier returns
                         ///< of the block's pages
  NotedPages huge;       ///< pages for which the program requested huge pages

  [[nodiscard]] std::size_t bytes() const { return populated.bytes() + huge.bytes(); }
};

/// Reads all events before operations are written, because the recording lists a block's populated pages at the block's
/// end. `first_block` is the number of blocks that the process has at its beginning. Throws UsageError like
/// `check_memory`.
RecordedPages recorded_pages(const CallsFile& file, std::size_t process, std::uint64_t first_block);

/// Number of events between two checks of the memory.
inline constexpr std::uint64_t kEventsOfCheck = 1024;

/// Throws UsageError if reading a recording takes too much memory. `bytes` is the memory for the recording's pages,
/// without the memory for its blocks.
void check_memory(const CallsFile& file, std::size_t process, std::uint64_t event, std::size_t bytes);

}  // namespace zerotax::replay
