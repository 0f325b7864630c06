#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "files/shared_file.h"
#include "record/preload/arena.h"

namespace zerotax::record {

/// A process whose part of the arena holds values that the library never writes.
struct DamagedSlot {
  std::int32_t pid = 0;
  std::string executable;
};

/// The memory that recorded programs write into (files/shared_file.h). It is sparse, and disappears with its last user.
/// Programs inherit its descriptor; programs of our user that closed the descriptor open the memory below /proc. A
/// program that changed its user and closed the descriptor is not recorded.
///
/// Any recorded program may write anything into this memory. All data that is read here is copied once and then
/// checked.
class RecordArena {
 public:
  /// Throws MachineError if the memory cannot be made.
  RecordArena();
  ~RecordArena();
  RecordArena(const RecordArena&) = delete;
  RecordArena& operator=(const RecordArena&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

  /// Has programs count the peak of their live heap. For runs that are not timed; before the program starts.
  void count_live_heap() { arena_->counts_live_heap = counts_live_heap_ = 1; }
  [[nodiscard]] bool counts_live_heap() const { return counts_live_heap_ != 0; }

  /// Copies of the current state; running processes keep writing to the memory. Each call copies the slots that are new
  /// since the last call.
  [[nodiscard]] std::vector<const ProcessSlot*> processes();
  /// Processes that `processes` left out, because their slots are damaged.
  [[nodiscard]] const std::vector<DamagedSlot>& damaged() const { return damaged_; }
  /// Programs that processes were about to become, and ends of processes that shared another's memory, as of the last
  /// call of `processes`.
  [[nodiscard]] std::vector<const ExecEntry*> entries() const;
  /// The same without the ends.
  [[nodiscard]] std::vector<const ExecEntry*> execs() const;
  /// Slots that processes have claimed.
  [[nodiscard]] std::size_t slots_used() const;
  /// Maps the beginning of a slot, up to its tables, which shows later changes. Call unwatch for the result. nullptr if
  /// the slot cannot be mapped, or is not ready.
  [[nodiscard]] const ProcessSlot* watch_slot(std::size_t index) const;
  static void unwatch(const ProcessSlot* head);
  /// Bytes that the memory takes now: the cost of recording, apart from the processes.
  [[nodiscard]] std::uint64_t used_bytes() const;
  /// The marks so far, in their order.
  [[nodiscard]] std::vector<const Mark*> marks();
  /// Processes that found no slot, or whose slots exceed the number that is read.
  [[nodiscard]] std::size_t lost_processes() const;

 private:
  /// A copy of bytes of the memory at an offset, in memory of our own.
  [[nodiscard]] void* copy(std::size_t offset, std::size_t bytes);
  void copy_head();

  SharedFile file_;
  std::string path_;
  Arena* arena_ = nullptr;
  Arena* head_ = nullptr;  ///< a copy
  std::uint32_t counts_live_heap_ = 0;
  std::vector<ProcessSlot*> slots_;
  std::vector<DamagedSlot> damaged_;
  std::uint64_t copied_bytes_ = 0;
  std::size_t unread_ = 0;
};

/// Terminates a text of the arena within its field.
template <std::size_t kRoom>
void end_text(char (&field)[kRoom]) {
  if (field[kRoom - 1] != '\0') field[kRoom - 1] = '\0';
}

/// Whether a value is a time in nanoseconds, by any clock, even one that a program set. Differences of two valid times
/// do not overflow.
inline bool is_time(std::int64_t ns) {
  constexpr std::int64_t kMost = std::int64_t{1} << 61;
  return ns > -kMost && ns < kMost;
}

/// Terminates all texts of a copied slot within their fields. Returns false if the slot holds a value that the
/// recording library never writes: an unknown kind or state, a length beyond its table, a count that no process
/// reaches.
bool is_whole(ProcessSlot& slot);

}  // namespace zerotax::record
