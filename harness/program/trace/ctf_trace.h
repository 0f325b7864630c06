#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trace/ctf_stream.h"
#include "trace/ctf_types.h"

namespace zerotax::trace {

/// A recorded process: a folder with a metadata file.
struct CtfProcess {
  std::string folder;
  CtfMetadata metadata;
};

/// A thread's stream: of its own records, or of those that its signal handlers made meanwhile.
struct CtfStream {
  std::size_t process = 0;  ///< which of CtfTrace::processes()
  std::uint64_t number = 0;
  pid_t tid = 0;
  bool nested = false;
  std::vector<CtfPacket> packets;
  bool cut = false;  ///< the last packet of the file is
  std::uint64_t discarded = 0;
};

/// A recorded event.
struct CtfEvent {
  const CtfStream* stream = nullptr;
  const CtfType* type = nullptr;
  pid_t pid = 0;  ///< whose it is: who recorded it; of an event of the kernel, for whom the kernel did it
  pid_t tid = 0;
  std::uint64_t type_id = 0;
  std::int64_t monotonic_ns = 0;
  std::uint64_t ticks = 0;
  std::uint64_t discarded_before = 0;  ///< records of the stream that were not kept since the event before this
  const char* bytes = nullptr;         ///< the fields, at their offsets
};

/// All that was recorded under a folder: what ZEROTAX_TRACE_DIR was, or one process's folder in it. Also what a crash
/// left in buffers.
class CtfTrace {
 public:
  /// Throws UsageError if there is nothing.
  explicit CtfTrace(std::string folder);

  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] const std::vector<CtfProcess>& processes() const { return processes_; }
  [[nodiscard]] const std::vector<CtfStream>& streams() const { return streams_; }
  /// The name of the process that an event is of; its number, if it recorded nothing itself.
  [[nodiscard]] std::string process_of(const CtfEvent& event) const;

  /// Every event, in the order of time.
  void for_each(const std::function<void(const CtfEvent&)>& tell);

  /// What could not be read: a line each. Complete after for_each.
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }
  /// Records that were not kept, of all streams and of none.
  [[nodiscard]] std::uint64_t discarded() const;

 private:
  friend class CtfEvents;
  void open_process(const std::string& folder);
  void open_streams(std::size_t process);
  void add_ring(std::size_t process, const std::string& path);

  std::string folder_;
  std::vector<CtfProcess> processes_;
  std::vector<CtfStream> streams_;
  std::vector<std::unique_ptr<MappedFile>> files_;
  std::vector<std::string> problems_;
  std::size_t found_on_opening_ = 0;  ///< of these; the others are of the latest for_each
};

/// Goes through a trace once, event by event, in the order of time. The trace must stay.
class CtfEvents {
 public:
  explicit CtfEvents(CtfTrace& trace);
  ~CtfEvents();
  CtfEvents(const CtfEvents&) = delete;
  CtfEvents& operator=(const CtfEvents&) = delete;

  /// The next one, valid until the next call; nullptr at the end.
  const CtfEvent* next();

 private:
  struct Streams;
  std::unique_ptr<Streams> streams_;
};

/// The folders of processes under `folder`, or itself. Throws UsageError if there is none.
std::vector<std::string> ctf_process_folders(const std::string& folder);

}  // namespace zerotax::trace
