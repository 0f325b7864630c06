#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "os/unique_fd.h"
#include "record/arena.h"
#include "record/calls/encoder.h"
#include "record/calls/result.h"
#include "record/launch.h"
#include "record/result.h"

namespace zerotax::record {

/// A file of calls while it is written: empties the rings of the recorded processes in a thread of its own.
class CallsRecording {
 public:
  /// `limit`: bytes of the file, at most, but for its last part. Throws UsageError if the file cannot be written,
  /// MachineError if there is no memory for the rings.
  CallsRecording(const RecordArena& arena, std::string path, std::uint64_t limit);
  ~CallsRecording();
  CallsRecording(const CallsRecording&) = delete;
  CallsRecording& operator=(const CallsRecording&) = delete;

  /// The file of the rings, for kCallsVariable.
  [[nodiscard]] const std::string& area_path() const { return area_path_; }

  /// The program has ended: takes what is left.
  void stop();
  /// Writes what the run counted, and closes the file. `started_ns`: of the program (CLOCK_MONOTONIC). Returns a line
  /// on the file for people. Throws MachineError if the file could not be written.
  std::string finish(const Record& record, const RecordTarget& target, std::int64_t started_ns);

 private:
  struct Process {
    CallStream* stream = nullptr;
    std::optional<CallEncoder> encoder;  ///< nothing while its parent has not come to its fork
    std::uint64_t next_ticket = 0;
    std::vector<std::size_t> rings;
  };

  void open_area(const std::string& path);
  void run();
  bool drain(bool holes);
  void adopt();
  void begin(std::size_t index);
  bool drain_process(std::size_t index, bool holes);
  bool drain_ring(std::size_t ring, Process& process);
  bool step_over_hole(Process& process);
  void release_rings();
  void flush(std::size_t index);
  void write_part(std::uint32_t kind, std::size_t process, const std::string& raw);
  void wait();
  [[nodiscard]] CallRing& ring(std::size_t index) const;
  [[nodiscard]] CallsProcess row_of(const Process& process, const Record& record, std::int64_t started_ns) const;

  std::string path_;
  std::string area_path_;
  std::uint64_t limit_;
  UniqueFd file_;
  CallArea* area_ = nullptr;
  std::vector<Process> processes_;
  std::vector<bool> adopted_;  ///< rings
  std::uint64_t written_ = 0;
  bool limited_ = false;
  int failure_ = 0;  ///< errno of a write
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace zerotax::record
