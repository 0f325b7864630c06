#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "files/new_file.h"
#include "files/shared_file.h"
#include "os/pagemap.h"
#include "os/worker.h"
#include "record/calls/encoder.h"
#include "record/calls/result.h"
#include "record/launch.h"
#include "record/result.h"

namespace zerotax::record {

/// A file of calls that is being written. A thread of zerotax empties the rings of the recorded processes (rings.cc).
class CallsRecording {
 public:
  /// Opens the file. `limit` is the maximum size of the file in bytes, without its last part. Throws UsageError if the
  /// file cannot be written, MachineError if there is no memory for the rings.
  CallsRecording(std::string path, std::uint64_t limit);
  ~CallsRecording();
  CallsRecording(const CallsRecording&) = delete;
  CallsRecording& operator=(const CallsRecording&) = delete;

  /// Path of the memory of the rings, which is passed to programs in kCallsVariable.
  [[nodiscard]] const std::string& area_path() const { return area_path_; }

  /// Encodes the remaining calls. Call this after the program has ended.
  void stop();
  /// Writes the counts of the run, and closes the file. `started_ns` is the start of the program (CLOCK_MONOTONIC).
  /// Returns a line of text about the file. Throws MachineError if the file could not be written.
  std::string finish(const Record& record, const RecordTarget& target, std::int64_t started_ns);

 private:
  /// A thread's ring. Any recorded process may write to the ring, so all data is copied once and then checked.
  struct Ring {
    std::size_t index;
    std::uint32_t thread;
    std::uint64_t tail;
  };
  struct Process {
    CallStream* stream = nullptr;
    // Values copied when the stream became ready.
    pid_t pid = 0;
    std::uint32_t parent = 0;  ///< 1 + the parent's index, which is less than this process's index; 0: no parent
    std::uint64_t forked_at = kNoTicket;
    std::int64_t started_ns = 0;
    std::optional<CallEncoder> encoder = {};  ///< empty until the parent's calls up to the fork are encoded
    std::uint64_t next_ticket = 0;
    std::vector<Ring> rings = {};
    std::vector<CallEncoder::Look> looks = {};  ///< page ranges of the process's live blocks at the last sample
    bool known = false;                         ///< whether the events include the pages of the process's live blocks
    bool over = false;                          ///< whether the process has ended and all of its calls are encoded
    std::uint64_t bad = 0;                      ///< number of rings that were dropped because their contents were
                                                ///< invalid
  };

  void open_area();
  void run();
  bool drain(bool holes);
  void adopt();
  void begin(std::size_t index);
  bool drain_process(std::size_t index, bool holes);
  bool drain_ring(Ring& ring, Process& process);
  enum class Drained { kAll, kEnded, kDamaged };
  Drained take_calls(Ring& ring, Process& process);
  void free_ring(std::size_t index);
  bool step_over_hole(Process& process);
  void release_rings();
  [[nodiscard]] bool is_replaced(std::size_t index) const;
  bool look_at(std::size_t index);
  void end_process(std::size_t index);
  void flush(std::size_t index);
  void stop_if_too_large();
  void stop_at_limit();
  void write_part(std::uint32_t kind, std::size_t process, const std::string& raw);
  void wait();
  [[nodiscard]] CallRing& ring(std::size_t index) const;
  [[nodiscard]] CallsProcess row_of(const Process& process, const Record& record, std::int64_t started_ns) const;

  std::string path_;
  SharedFile memory_;
  std::string area_path_;
  std::uint64_t limit_;
  NewFile file_;
  CallArea* area_ = nullptr;
  std::vector<Process> processes_;
  std::vector<bool> adopted_;  ///< rings
  Pagemap::Method method_ = Pagemap().method();
  std::uint64_t written_ = 0;
  bool limited_ = false;
  bool too_large_ = false;  ///< whether the recording stopped because the encoders took too much memory
  int failure_ = 0;         ///< errno of a failed write
  std::atomic<bool> stopping_{false};
  Worker thread_;
};

}  // namespace zerotax::record
