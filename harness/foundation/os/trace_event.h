#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "os/unique_fd.h"

namespace zerotax {

/// The kernel's event files, through a mount of our own that nobody else sees (fsmount(2), Linux 5.2). So tracefs need
/// not be mounted anywhere. Needs CAP_SYS_ADMIN.
class Tracefs {
 public:
  Tracefs();
  /// The text of a file; empty if it cannot be read.
  [[nodiscard]] std::string read(const std::string& path) const;
  /// Adds a line to a file of definitions. Returns 0, or the kernel's errno.
  [[nodiscard]] int add(const std::string& path, const std::string& line) const;

 private:
  UniqueFd root_;
  int error_ = 0;  ///< why the mount is missing
};

/// A tracepoint of the running kernel: its number, and where its fields lie in the raw data of a perf sample.
struct TraceEvent {
  struct Field {
    std::size_t offset = 0;
    std::size_t bytes = 0;
    bool is_signed = false;
    std::string type;       ///< as in C, without a length: "unsigned long", "char", "__data_loc char[]"
    std::size_t count = 0;  ///< elements of an array; 0: not an array
  };
  std::uint64_t id = 0;
  std::map<std::string, Field> fields;  ///< by name; "common_..." are those that all events have

  /// The value of an unsigned field of 4 or 8 bytes; 0 if no such field has this name, or the data is cut.
  [[nodiscard]] std::uint64_t number(const char* field, const unsigned char* data, std::size_t bytes) const;
};

/// From the text of a file "format" (Documentation/trace/events.rst). Nothing if it is not such a text.
std::optional<TraceEvent> parse_trace_event(const std::string& format);

/// Reads an event such as "exceptions/page_fault_user" from tracefs (os/tracefs.h). Nothing if tracefs or the event is
/// missing.
std::optional<TraceEvent> read_trace_event(const std::string& name);

/// All tracepoints of this kernel, "exceptions:page_fault_user", in the order of their names; empty where
/// read_trace_event finds none.
std::vector<std::string> trace_event_names();

// Values of fields of kmem:mm_page_alloc. No part of the kernel's interface, but the same from Linux 4.x to 6.18:
// include/linux/gfp_types.h, include/linux/mmzone.h.
inline constexpr std::uint64_t kGfpZero = 0x100;  ///< __GFP_ZERO: the kernel clears the page
/// __GFP_NOMEMALLOC, which pages of a fault that are larger than the base size have (GFP_TRANSHUGE_LIGHT). Such pages
/// are cleared after they were allocated. Those that are read from a file lack the flag.
inline constexpr std::uint64_t kGfpNoMemoryAllocator = 0x80000;
/// __GFP_HIGHMEM and __GFP_HARDWALL, which pages of programs have. Pages of pipes and of the page cache have one of
/// __GFP_ACCOUNT, __GFP_WRITE and __GFP_NORETRY. Pages of shared memory have none of these.
inline constexpr std::uint64_t kGfpOfProgram = 0x100002;
inline constexpr std::uint64_t kGfpOfFile = 0x411000;
inline constexpr std::uint64_t kMovable = 1;  ///< MIGRATE_MOVABLE: pages of programs and files; page tables have 0
inline constexpr unsigned kHugeOrder = 9;     ///< of a huge page, on base pages of 4 KiB

/// Pages that the kernel took at once: 2^order that lie beside each other.
struct PageAllocation {
  unsigned order = 0;
  bool zeroed = false;   ///< the kernel asked for zeros (__GFP_ZERO), and so clears them
  bool movable = false;  ///< of a program or a file; page tables, stacks and the kernel's own objects are not
  /// Whether pages were allocated in the way of copies and zero-fills. If the kernel pins such pages at once, they
  /// cannot be moved. Shared memory is allocated in the same way.
  bool of_program = false;
};

/// Decodes a sample of kmem:mm_page_alloc (`raw`: PERF_SAMPLE_RAW, of `bytes`).
PageAllocation page_allocation_of(const TraceEvent& event, const unsigned char* raw, std::size_t bytes);

/// The place of a kernel breakpoint.
struct UprobePlace {
  std::string path;  ///< a path by which the file can be opened now
  std::uint64_t file_offset = 0;
};

/// One kernel event that happens at several places (Documentation/trace/uprobetracer.rst; several places, and numbers
/// in the data: Linux 5.4). Breakpoints exist only in processes for which a perf event of it is open, and in the
/// processes that they start. Unlike an event of the PMU "uprobe", this event can be inherited. For each new thread,
/// the kernel would look for the path of a PMU event in the memory of the process, not find it, and fail the fork.
///
/// The kernel owns the definition, which remains if we are killed, without any breakpoint. The next UprobeEvent removes
/// it.
class UprobeEvent {
 public:
  /// Throws std::system_error if the kernel refuses.
  explicit UprobeEvent(const std::vector<UprobePlace>& places);
  /// Call it after all perf events of this event are closed.
  ~UprobeEvent();
  UprobeEvent(const UprobeEvent&) = delete;
  UprobeEvent& operator=(const UprobeEvent&) = delete;

  /// The value for perf_event_attr::config.
  [[nodiscard]] std::uint64_t id() const { return event_.id; }
  /// The index of the place that was hit, from the raw data of a sample.
  [[nodiscard]] std::uint64_t place(const unsigned char* data, std::size_t bytes) const;

 private:
  Tracefs tracefs_;
  std::string name_;
  TraceEvent event_;
};

}  // namespace zerotax
