#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "os/unique_fd.h"
#include "record/preload/arena.h"

namespace zerotax::record {

/// The file that recorded programs write into: sparse, in a private folder of /dev/shm or the temporary folder, removed
/// at the end of this object, or by the next one if the command is killed. Root's is writable by anybody who knows its
/// name, so that a program which drops its privileges can still be followed.
class RecordArena {
 public:
  /// Throws MachineError if no such file can be made.
  RecordArena();
  ~RecordArena();
  RecordArena(const RecordArena&) = delete;
  RecordArena& operator=(const RecordArena&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

  /// Has programs count the peak of their live heap. For runs that are not timed; before the program starts.
  void count_live_heap() { arena_->counts_live_heap = 1; }
  [[nodiscard]] bool counts_live_heap() const { return arena_->counts_live_heap != 0; }

  /// Copies of the current state; running processes keep writing to the file. Each call copies what is new
  /// since the last.
  [[nodiscard]] std::vector<const ProcessSlot*> processes();
  [[nodiscard]] std::vector<const ExecEntry*> execs() const;
  /// Slots that processes have claimed.
  [[nodiscard]] std::size_t slots_used() const;
  /// The beginning of a slot, up to its tables, as it is from now on: to be given back. nullptr if it cannot be mapped.
  [[nodiscard]] const ProcessSlot* watch_slot(std::size_t index) const;
  static void unwatch(const ProcessSlot* head);
  /// Bytes of memory or disk that the file takes up now: what recording costs beside the processes.
  [[nodiscard]] std::uint64_t used_bytes() const;
  /// The marks so far, in their order.
  [[nodiscard]] std::vector<const Mark*> marks() const;
  /// Processes that found no slot.
  [[nodiscard]] std::size_t lost_processes() const;

 private:
  /// The bytes of the file at an offset, in memory of our own.
  [[nodiscard]] void* copy(std::size_t offset, std::size_t bytes) const;

  std::string folder_;
  std::string path_;
  UniqueFd lock_;  ///< of the folder: the next recording removes what has none
  UniqueFd fd_;
  Arena* arena_ = nullptr;
  std::vector<ProcessSlot*> slots_;
};

}  // namespace zerotax::record
