#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/ring_file.h"
#include "os/mapped_file.h"

namespace zerotax::trace {

/// A field of a recorded event.
struct CtfField {
  enum class Kind { kUnsigned, kSigned, kFloat, kText };
  std::string name;
  Kind kind = Kind::kUnsigned;
  std::uint32_t bytes = 0;  ///< of one element
  std::uint32_t count = 1;
  bool array = false;
  std::uint32_t offset = 0;  ///< in the event's bytes
};

/// A type of event.
struct CtfType {
  std::string name;
  std::vector<CtfField> fields;
  std::uint32_t bytes = 0;  ///< of its fields; the record has 8 more before it, and is padded to 8
  bool of_kernel = false;   ///< "kernel_...", or a tracepoint's name: the kernel's, whoever recorded it
  /// nullptr if it has no field of this name.
  [[nodiscard]] const CtfField* field(std::string_view called) const;
  [[nodiscard]] std::uint64_t record_bytes() const { return (8 + std::uint64_t{bytes} + 7) / 8 * 8; }
};

/// The metadata file of a recorded process.
struct CtfMetadata {
  std::string uuid;  ///< its 16 bytes
  pid_t pid = 0;
  std::string process_name;
  std::optional<std::string> mode;
  std::optional<std::string> clock_source;
  std::uint64_t records_without_stream = 0;  ///< that were not kept, and belong to no stream
  std::uint64_t frequency = 0;
  std::uint64_t begin_ticks = 0;         ///< one moment on all clocks
  std::uint64_t begin_monotonic_ns = 0;  ///< CLOCK_MONOTONIC
  std::uint64_t begin_realtime_ns = 0;   ///< since 1970
  std::map<std::uint64_t, CtfType> types;

  /// CLOCK_MONOTONIC, in ns, at this count of ticks.
  [[nodiscard]] std::int64_t monotonic_ns(std::uint64_t ticks) const;
};

/// Reads the TSDL that our recorder writes (and no other's). An event type cut at the end is left out and reported in
/// `problem`. Throws UsageError if our recorder did not write it, or its head is damaged; `path` is for messages.
CtfMetadata parse_ctf_metadata(const std::string& text, const std::string& path, std::string& problem);

/// A packet: its head as it is read (for a begun packet of a buffer: as it would be completed), and where its records
/// are.
struct CtfPacket {
  recorder::PacketHeader header;
  const char* records = nullptr;
  std::uint64_t bytes = 0;  ///< of the records
};

/// The packets of a stream file that are readable, in their order. Cut or damaged packets are left out and reported in
/// `problems`, each a line that begins with the file.
struct CtfStreamFile {
  std::vector<CtfPacket> packets;
  std::uint64_t whole_bytes = 0;  ///< of the file up to where a packet is cut at its end
  bool cut = false;  ///< the last packet is: its process was killed while it was written, or the file was cut
};
CtfStreamFile scan_stream(const MappedFile& file, const std::string& path, const std::string& uuid,
                          std::vector<std::string>& problems);

/// The packets of a lane of a thread's buffer that its stream file lacks, which ends with packet `next` - 1. The text
/// of a begun one's head is completed. `ring` must be check_ring()'s.
std::vector<CtfPacket> packets_of_ring(const recorder::RingFile& ring, unsigned lane, std::uint64_t next);

/// The buffer in a file; nullptr, reported in `problems`, if it is damaged or belongs to another trace.
const recorder::RingFile* check_ring(const MappedFile& file, const std::string& path, const std::string& uuid,
                                     std::vector<std::string>& problems);

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
