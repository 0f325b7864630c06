#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "files/shared_file.h"
#include "record/preload/arena.h"

namespace zerotax::record {

/// A process whose slot holds values that the recording library never writes.
struct DamagedSlot {
  std::int32_t pid = 0;
  std::string executable;
};

/// The shared memory into which recorded programs write (files/shared_file.h). The memory is sparse, and disappears
/// with its last user. Programs inherit the memory's descriptor. A program of the same user that closed the descriptor
/// opens the memory through /proc. A program that changed its user and closed the descriptor is not recorded. Any
/// recorded program may write anything into this memory, so data is copied once, and the copy is checked.
class RecordArena {
 public:
  /// `keeps_resident`: processes also keep the data by which their resident memory is divided (resident_area.h). Throws
  /// MachineError if the memory cannot be created.
  explicit RecordArena(bool keeps_resident = false);
  ~RecordArena();
  RecordArena(const RecordArena&) = delete;
  RecordArena& operator=(const RecordArena&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

  /// Makes programs measure the peak of their live heap. Call this before the program starts, and only for runs that
  /// are not timed.
  void count_live_heap() { arena_->counts_live_heap = counts_live_heap_ = 1; }
  [[nodiscard]] bool counts_live_heap() const { return counts_live_heap_ != 0; }
  [[nodiscard]] bool keeps_resident() const { return keeps_resident_; }
  /// The file, and the part of it that all processes share.
  [[nodiscard]] int file() const { return file_.fd(); }
  [[nodiscard]] Arena& shared() const { return *arena_; }

  /// Returns copies of the slots; running processes keep writing to the originals. Each call also copies the slots that
  /// are new since the last call.
  [[nodiscard]] std::vector<const ProcessSlot*> processes();
  /// Returns the processes that processes() omitted because their slots are damaged.
  [[nodiscard]] const std::vector<DamagedSlot>& damaged() const { return damaged_; }
  /// Returns the exec entries and the sharer ends that the last call to processes() found. An exec entry is a program
  /// that a process was about to exec or spawn. A sharer end is the end of a process that shared another process's
  /// memory.
  [[nodiscard]] std::vector<const ExecEntry*> entries() const;
  /// Returns only the exec entries of entries().
  [[nodiscard]] std::vector<const ExecEntry*> execs() const;
  /// Returns the call stacks that started processes, as the last call to processes() found them.
  [[nodiscard]] std::vector<const ForkSite*> forks() const;
  /// Returns the number of calls that start processes for whose stack there was no room.
  [[nodiscard]] std::uint64_t forks_lost() const;
  /// Number of slots that processes have claimed.
  [[nodiscard]] std::size_t slots_used() const;
  /// Maps the beginning of a slot, up to its tables; the mapping shows later changes. Returns nullptr if the slot
  /// cannot be mapped or is not ready. Pass the result to unwatch().
  [[nodiscard]] const ProcessSlot* watch_slot(std::size_t index) const;
  static void unwatch(const ProcessSlot* head);
  /// Bytes that the shared memory occupies now. This memory cost of recording does not include the memory that
  /// recording takes within the processes.
  [[nodiscard]] std::uint64_t used_bytes() const;
  /// Returns all marks so far, in the order in which they were made.
  [[nodiscard]] std::vector<const Mark*> marks();
  /// Number of processes that were not recorded, because no slot was free or because their slot is beyond the slots
  /// that are read.
  [[nodiscard]] std::size_t lost_processes() const;

 private:
  /// Copies bytes at an offset of the shared memory into private memory.
  [[nodiscard]] void* copy(std::size_t offset, std::size_t bytes);
  void copy_head();

  SharedFile file_;
  std::string path_;
  Arena* arena_ = nullptr;
  Arena* head_ = nullptr;  ///< a copy
  std::uint32_t counts_live_heap_ = 0;
  const bool keeps_resident_;
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

/// Whether a value is a plausible time in nanoseconds of any clock, including a clock that a program has set. The
/// difference of two valid times does not overflow.
inline bool is_time(std::int64_t ns) {
  constexpr std::int64_t kMost = std::int64_t{1} << 61;
  return ns > -kMost && ns < kMost;
}

/// Terminates all texts of a copied slot within their fields. Returns false if the slot holds a value that the
/// recording library never writes, such as an unknown kind or a length beyond the end of a table.
bool is_whole(ProcessSlot& slot);

}  // namespace zerotax::record
