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
#include "os/input_file.h"

namespace zerotax::trace {

/// A field of a type of event.
struct CtfField {
  enum class Kind { kUnsigned, kSigned, kFloat, kText };
  std::string name;
  Kind kind = Kind::kUnsigned;
  std::uint32_t bytes = 0;  ///< size of one element
  std::uint32_t count = 1;
  bool array = false;
  std::uint32_t offset = 0;  ///< offset in the event's data
};

/// A type of event.
struct CtfType {
  std::string name;
  std::vector<CtfField> fields;
  std::uint32_t bytes = 0;  ///< total size of the fields; a record has 8 bytes before the fields, and padding to a
                            ///< multiple of 8 bytes after the fields
  bool of_kernel = false;   ///< whether the event is from the kernel: named "kernel_..." or as a tracepoint
  /// Returns nullptr if the type has no field named `called`.
  [[nodiscard]] const CtfField* field(std::string_view called) const;
  [[nodiscard]] std::uint64_t record_bytes() const { return (8 + std::uint64_t{bytes} + 7) / 8 * 8; }
};

/// Contents of the metadata file of a recorded process.
struct CtfMetadata {
  std::string uuid;  ///< 16 raw bytes
  pid_t pid = 0;
  std::string process_name;
  std::optional<std::string> mode;
  std::optional<std::string> clock_source;
  std::uint64_t records_without_stream = 0;  ///< discarded records that belong to no stream
  std::uint64_t frequency = 0;
  std::uint64_t begin_ticks = 0;         ///< start of the process on the trace's clock
  std::uint64_t begin_monotonic_ns = 0;  ///< the same moment on CLOCK_MONOTONIC
  std::uint64_t begin_realtime_ns = 0;   ///< the same moment since 1970
  std::map<std::uint64_t, CtfType> types;

  /// Converts ticks to nanoseconds of CLOCK_MONOTONIC.
  [[nodiscard]] std::int64_t monotonic_ns(std::uint64_t ticks) const;
};

/// Parses TSDL that zerotax's recorder wrote; other TSDL is refused. Omits an event type that is cut at the end of the
/// text, and reports this in `problem`. Throws UsageError if another program wrote the text or if its beginning is
/// damaged; `path` is for messages.
CtfMetadata parse_ctf_metadata(const std::string& text, const std::string& path, std::string& problem);

/// A packet: its header and the position of its records. For an incomplete packet in a buffer, the header has the sizes
/// and times that completion would have set.
struct CtfPacket {
  recorder::PacketHeader header;
  const char* records = nullptr;
  std::uint64_t bytes = 0;  ///< size of the records
};

/// The readable packets of a stream file, in order. Cut or damaged packets are omitted. For each omitted packet,
/// `problems` gets a line that begins with the file's name.
struct CtfStreamFile {
  std::vector<CtfPacket> packets;
  std::uint64_t whole_bytes = 0;  ///< size of the file without a cut packet at its end
  bool cut = false;  ///< whether the last packet is cut: its process was killed during the write, or the file was
                     ///< shortened
};
CtfStreamFile scan_stream(const MappedFile& file, const std::string& path, const std::string& uuid,
                          std::vector<std::string>& problems);

/// Returns those packets of one lane of a thread's buffer that the stream file lacks. `next` is the sequence number of
/// the first of these packets. Completes the header of a packet that was begun. `ring` must come from check_ring().
std::vector<CtfPacket> packets_of_ring(const recorder::RingFile& ring, unsigned lane, std::uint64_t next);

/// Returns the buffer in a file. If the buffer is damaged or belongs to another trace, reports a problem and returns
/// nullptr.
const recorder::RingFile* check_ring(const MappedFile& file, const std::string& path, const std::string& uuid,
                                     std::vector<std::string>& problems);

/// A recorded process: a folder with a metadata file.
struct CtfProcess {
  std::string folder;
  CtfMetadata metadata;
};

/// A stream of a thread: records of the thread itself, or records of signal handlers that interrupted it while it
/// recorded.
struct CtfStream {
  std::size_t process = 0;  ///< index in CtfTrace::processes()
  std::uint64_t number = 0;
  pid_t tid = 0;
  bool nested = false;
  std::vector<CtfPacket> packets;
  bool cut = false;  ///< whether the last packet in the file is cut
  std::uint64_t discarded = 0;
};

/// A recorded event.
struct CtfEvent {
  const CtfStream* stream = nullptr;
  const CtfType* type = nullptr;
  pid_t pid = 0;  ///< process that recorded the event; for a kernel event, process that caused it
  pid_t tid = 0;
  std::uint64_t type_id = 0;
  std::int64_t monotonic_ns = 0;
  std::uint64_t ticks = 0;
  std::uint64_t discarded_before = 0;  ///< number of records of the stream that were discarded since its previous event
  const char* bytes = nullptr;         ///< data of the event; fields are at their offsets
};

/// All records under a folder: the folder of ZEROTAX_TRACE_DIR, or one process's folder in it. Includes records that a
/// crash left in buffers.
class CtfTrace {
 public:
  /// Throws UsageError if the folder contains no trace, or a trace of which no part can be read.
  explicit CtfTrace(std::string folder);

  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] const std::vector<CtfProcess>& processes() const { return processes_; }
  [[nodiscard]] const std::vector<CtfStream>& streams() const { return streams_; }
  /// Returns the name of the process to which the event belongs, or its PID if that process recorded no event itself.
  [[nodiscard]] std::string process_of(const CtfEvent& event) const;

  /// Calls `tell` for every event, in the order of time.
  void for_each(const std::function<void(const CtfEvent&)>& tell);

  /// Returns one line per part of the trace that could not be read. The list is complete after for_each.
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }
  /// Returns the number of discarded records, including those that belong to no stream.
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
  std::size_t found_on_opening_ = 0;  ///< number of problems that the constructor found; all later problems come from
                                      ///< the latest for_each
};

/// Iterates over a trace once, event by event, in the order of time. The trace must outlive the iterator.
class CtfEvents {
 public:
  explicit CtfEvents(CtfTrace& trace);
  ~CtfEvents();
  CtfEvents(const CtfEvents&) = delete;
  CtfEvents& operator=(const CtfEvents&) = delete;

  /// Returns the next event, valid until the next call, or nullptr at the end.
  const CtfEvent* next();

 private:
  struct Streams;
  std::unique_ptr<Streams> streams_;
};

/// Returns the process folders in `folder`, or `folder` itself if it is one. Throws UsageError if no process folder is
/// found.
std::vector<std::string> ctf_process_folders(const std::string& folder);

struct CtfRepair {
  std::size_t packets = 0;            ///< number of packets added to stream files
  std::size_t buffers = 0;            ///< number of buffers removed, because their streams now contain all their
                                      ///< packets
  std::vector<std::string> problems;  ///< one line each
};

/// Completes the stream files of ended processes with the packets left in their threads' buffers, so that any reader of
/// CTF sees all packets. Cuts off half-written packets at the ends of streams. Skips processes that still run, and
/// files that are not streams. Throws UsageError if there is no trace, if no part of the trace can be repaired, or if a
/// file cannot be written.
CtfRepair repair_ctf_trace(const std::string& folder);

}  // namespace zerotax::trace
