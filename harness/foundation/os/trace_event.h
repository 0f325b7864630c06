#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "os/unique_fd.h"

namespace zerotax {

/// The kernel's event files, through a private mount (fsmount(2), since Linux 5.2), so that tracefs need not be mounted
/// anywhere. Needs CAP_SYS_ADMIN.
class Tracefs {
 public:
  Tracefs();
  /// Returns the text of a file; empty if it cannot be read.
  [[nodiscard]] std::string read(const std::string& path) const;
  /// Adds a line to a file of definitions. Returns 0, or the kernel's errno.
  [[nodiscard]] int add(const std::string& path, const std::string& line) const;

 private:
  UniqueFd root_;
  int error_ = 0;  ///< errno of the failed mount
};

/// A tracepoint of the running kernel: its number, and the positions of its fields in the raw data of a perf sample.
struct TraceEvent {
  struct Field {
    std::size_t offset = 0;
    std::size_t bytes = 0;
    bool is_signed = false;
    std::string type;       ///< type as in C, without a length: "unsigned long", "char", "__data_loc char[]"
    std::size_t count = 0;  ///< number of array elements; 0 if not an array
  };
  std::uint64_t id = 0;
  std::map<std::string, Field> fields;  ///< fields by name; all events have the fields "common_..."

  /// Returns the value of an unsigned field of 4 or 8 bytes, or 0 if the field does not exist or the data is truncated.
  [[nodiscard]] std::uint64_t number(const char* field, const unsigned char* data, std::size_t bytes) const;
};

/// Parses the text of an event's file "format" (Documentation/trace/events.rst). Returns nothing if the text is
/// malformed.
std::optional<TraceEvent> parse_trace_event(const std::string& format);

/// Reads an event such as "exceptions/page_fault_user" from tracefs. Returns nothing if tracefs or the event is
/// missing.
std::optional<TraceEvent> read_trace_event(const std::string& name);

/// Returns all tracepoints of this kernel, such as "exceptions:page_fault_user", sorted by name. Returns none if
/// read_trace_event can find none.
std::vector<std::string> trace_event_names();

// Field values of kmem:mm_page_alloc. The values are not part of the kernel's stable interface, but are equal from
// Linux 4.x to 6.18: include/linux/gfp_types.h, include/linux/mmzone.h.
inline constexpr std::uint64_t kGfpZero = 0x100;  ///< __GFP_ZERO: the kernel clears the page
/// __GFP_NOMEMALLOC, which faults set for pages larger than the base size (GFP_TRANSHUGE_LIGHT). The kernel clears
/// these large pages after allocating them. Large pages that are read from a file lack the flag.
inline constexpr std::uint64_t kGfpNoMemoryAllocator = 0x80000;
/// __GFP_HIGHMEM and __GFP_HARDWALL, flags that pages of programs have. Pages of pipes and of the page cache also have
/// at least one of __GFP_ACCOUNT, __GFP_WRITE and __GFP_NORETRY. Pages of shared memory have none of these three.
inline constexpr std::uint64_t kGfpOfProgram = 0x100002;
inline constexpr std::uint64_t kGfpOfFile = 0x411000;
inline constexpr std::uint64_t kGfpAccount = 0x400000;  ///< __GFP_ACCOUNT: charged to the program's control group
inline constexpr std::uint64_t kMovable = 1;  ///< MIGRATE_MOVABLE, the type of pages of programs and files; page tables
                                              ///< have 0
inline constexpr unsigned kHugeOrder = 9;     ///< order of a huge page, with base pages of 4 KiB

/// A kernel allocation of 2^order adjacent pages.
struct PageAllocation {
  unsigned order = 0;
  bool zeroed = false;   ///< the kernel requested zeros (__GFP_ZERO), and so clears the pages
  bool movable = false;  ///< pages of a program or a file, unlike page tables, stacks and the kernel's own objects
  /// Whether the pages were allocated as for copies and zero-fills. Pages that the kernel pins at once are not movable.
  /// Shared memory is allocated in the same way.
  bool of_program = false;
  /// Whether the page is a page table of a program, or another small zeroed object of the kernel that is charged to the
  /// program's control group.
  bool is_table = false;
};

/// Decodes a sample of kmem:mm_page_alloc. `raw` is the sample's PERF_SAMPLE_RAW data, of length `bytes`.
PageAllocation page_allocation_of(const TraceEvent& event, const unsigned char* raw, std::size_t bytes);

/// The location of a kernel breakpoint.
struct UprobePlace {
  std::string path;  ///< a path at which the file can be opened now
  std::uint64_t file_offset = 0;
};

/// One kernel event with several locations (Documentation/trace/uprobetracer.rst). Several locations, and numbers in
/// the data, need Linux 5.4 or later. Breakpoints exist only in processes with an open perf event of this kernel event,
/// and in the processes that they start. Unlike an event of the PMU "uprobe", this event can be inherited. With an
/// inherited PMU event, the kernel would search the memory of each new thread for the path. The kernel would not find
/// the path there, and fail the fork.
///
/// The kernel owns the definition. If zerotax is killed, the definition remains, without any breakpoint, until the next
/// UprobeEvent removes it.
class UprobeEvent {
 public:
  /// Throws std::system_error if the kernel refuses.
  explicit UprobeEvent(const std::vector<UprobePlace>& places);
  /// Must run after all perf events of this event are closed.
  ~UprobeEvent();
  UprobeEvent(const UprobeEvent&) = delete;
  UprobeEvent& operator=(const UprobeEvent&) = delete;

  /// Returns the value for perf_event_attr::config.
  [[nodiscard]] std::uint64_t id() const { return event_.id; }
  /// Returns the index of the location that was hit, from the raw data of a sample.
  [[nodiscard]] std::uint64_t place(const unsigned char* data, std::size_t bytes) const;

 private:
  Tracefs tracefs_;
  std::string name_;
  TraceEvent event_;
};

}  // namespace zerotax
