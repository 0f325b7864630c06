#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "os/pagemap.h"
#include "os/worker.h"
#include "record/arena.h"
#include "record/resident/division.h"
#include "record/sites.h"

namespace zerotax::record {

/// Divides the resident memory of recorded processes while they run: when a process asks for it, when a process has
/// hardly called its allocator for a second, and when a signal was kept (os/foreground.h). A thread of zerotax reads
/// the areas of the processes (resident_area.h) and their files in /proc.
class ResidentWatch {
 public:
  explicit ResidentWatch(const RecordArena& arena);
  ~ResidentWatch();
  ResidentWatch(const ResidentWatch&) = delete;
  ResidentWatch& operator=(const ResidentWatch&) = delete;

  /// Ends the watch. Call this after the program has ended.
  void stop();
  /// Returns the moments, with the names of sites. `started_ns` is the start of the run.
  [[nodiscard]] Resident result(const SeenRun& seen, RecordedScripts& scripts, std::int64_t started_ns) const;

 private:
  struct Moment {
    ResidentAt at;
    std::int64_t at_ns;
    std::uint64_t live_blocks;
    Division division;
  };
  /// A slot of the arena.
  struct Slot {
    const ProcessSlot* process = nullptr;
    ResidentHead* head = nullptr;
    std::int32_t pid = 0;
    std::int64_t started_ns = 0;
    std::uint64_t changes = 0;  ///< ResidentHead::changes when the process was last busy
    std::int64_t quiet_ns = 0;  ///< time when the process was last busy
    std::int64_t next_ns = 0;   ///< earliest time of the next look at an idle moment
    bool was_idle = false;      ///< whether the process was looked at since then
    bool is_over = false;
    std::vector<Moment> moments = {};
    std::string why_not = {};
  };

  void run();
  void look();
  bool open(std::size_t index);
  void look_at(std::size_t index);
  bool is_running(std::size_t index);
  void divide_now(std::size_t index, ResidentAt at, const ResidentBlock& ending);
  [[nodiscard]] std::optional<HeldMemoryMap> read_memory(std::size_t index) const;
  void read_blocks(std::size_t index, HeldMemoryMap& memory) const;
  void read_marks(std::size_t index, HeldMemoryMap& memory) const;
  using FrameNames = std::function<std::vector<NamedFrame>(const std::uint64_t* frames, std::size_t depth)>;
  [[nodiscard]] ResidentMoment named(const Moment& moment, std::size_t index, const FrameNames& names) const;

  const RecordArena& arena_;
  Pagemap::Method method_ = Pagemap().method();
  std::vector<Slot> slots_;
  unsigned signals_ = 0;  ///< kept_signals() when all processes were last looked at on request
  std::atomic<bool> stopping_{false};
  Worker beats_;
  Worker thread_;
};

}  // namespace zerotax::record
