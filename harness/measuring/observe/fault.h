#pragma once

#include <sys/types.h>

#include <bitset>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "observe/address_space.h"
#include "os/fault_events.h"
#include "os/page.h"

namespace zerotax {

enum class FaultClass { kCopy, kReuse, kZeroFill, kFile, kOther };

struct Fault {
  std::uint64_t begin_ns = 0;  ///< CLOCK_MONOTONIC
  std::uint64_t end_ns = 0;    ///< 0 if a signal ended the fault, or if the end event was lost
  pid_t pid = 0;
  pid_t tid = 0;
  std::uint64_t address = 0;
  std::uint64_t instruction = 0;  ///< address of the faulting instruction; a kernel address if the kernel faulted in a
                                  ///< system call
  std::uint64_t error_code = 0;   ///< the CPU's error code
  bool allocated = false;         ///< whether movable pages were allocated
  bool zeroed = false;            ///< whether the allocation asked for zeroed pages
  unsigned order = 0;             ///< order of the allocation: 2^order pages
  bool major = false;             ///< whether the kernel read the page from a file or from swap

  [[nodiscard]] bool in_kernel() const { return (error_code & 4) == 0; }
  [[nodiscard]] bool is_write() const { return (error_code & 2) != 0; }
  [[nodiscard]] std::uint64_t bytes() const { return std::uint64_t{page_bytes()} << order; }
  /// Bytes copied by a copy fault. A write to an absent page of a file copies one base page, but `order` may describe
  /// the file's own page.
  [[nodiscard]] std::uint64_t copied_bytes() const { return (error_code & 1) != 0 ? bytes() : page_bytes(); }
};

/// Pages that system calls allocated for copies and zero-fills without a page fault.
struct SystemCallPages {
  std::uint64_t copies = 0;
  std::uint64_t zero_fills = 0;

  void add(const SystemCallPages& more) {
    copies += more.copies;
    zero_fills += more.zero_fills;
  }
};

/// Combines the events of each thread into faults. Events must be passed in chronological order. An event of kind
/// kFault is a complete fault, and counts as a write to a present page. An interrupt during a fault may run a handler
/// that also faults, such as a profiler that reads the stack. The kernel makes the handler's access fail at once, so
/// the inner fault allocates nothing and has no end event (arch/x86/mm/fault.c, faulthandler_disabled).
class FaultPairing {
 public:
  /// Returns the faults that end with this event, usually none or one. The result is valid until the next call.
  const std::vector<Fault>& apply(const FaultEvent& event);
  /// Forgets faults that have not ended.
  void forget() { open_.clear(); }
  /// Returns the pages that were allocated outside of handled faults.
  [[nodiscard]] SystemCallPages in_system_calls() const;

 private:
  struct Thread {
    std::vector<Fault> open;  ///< open faults in the order in which they began
    /// Pages allocated since the first open fault began. If signals end all open faults, system calls allocated these
    /// pages.
    SystemCallPages allocated;
  };
  void begin(Thread& thread, const FaultEvent& event);
  void end(Thread& thread, const FaultEvent& event);

  std::map<pid_t, Thread> open_;
  std::vector<Fault> over_;
  SystemCallPages in_system_calls_;
};

/// Classifies a fault by its error code, its allocation and its mapping; a null `region` is an unknown mapping.
/// docs/cow.md has the rules and their sources.
FaultClass classify(const Fault& fault, const Region* region);

/// Returns the class's name in files: copy, reuse, zero_fill, file or other.
const char* fault_class_name(FaultClass kind);

/// Number of faults of each class.
struct ClassCounts {
  std::uint64_t copies = 0;
  std::uint64_t reuses = 0;
  std::uint64_t zero_fills = 0;
  std::uint64_t file_faults = 0;
  std::uint64_t other = 0;

  /// Adds a fault that represents `times` faults.
  void add(FaultClass kind, std::uint64_t times = 1);
  [[nodiscard]] std::uint64_t all() const { return copies + reuses + zero_fills + file_faults + other; }
};

/// Faults of each class, and the cost of some classes.
struct FaultCounts : ClassCounts {
  std::uint64_t refills = 0;  ///< zero-fills of pages that the process had already filled
  std::uint64_t kernel = 0;   ///< faults of any class that the kernel itself took, as within read(2)
  std::uint64_t copied_bytes = 0;
  std::uint64_t file_copied_bytes = 0;  ///< part of copied_bytes: first writes to pages of private files, which no fork
                                        ///< caused
  std::uint64_t zeroed_bytes = 0;
  std::uint64_t copy_ns = 0;  ///< duration of copy faults, from start to end

  void add(const Fault& fault, FaultClass kind, bool refill = false, std::uint64_t times = 1);
  void add(const FaultCounts& more);
};

/// Pages that the kernel gave to a process, zeroed or copied. If the kernel zeroes the same page again, the process had
/// returned the page before. The number of refills is a lower bound, because memory may be refilled at another address.
class FilledPages {
 public:
  /// Adds the pages of the aligned range of `bytes` that contains an address. Returns whether the page of the address
  /// had been added before.
  bool add(std::uint64_t address, std::uint64_t bytes);
  void clear() { regions_.clear(); }

 private:
  static constexpr std::uint64_t kPages = 512;  ///< pages of a region, as many as one page table of x86-64 maps
  std::unordered_map<std::uint64_t, std::bitset<kPages>> regions_;
};

}  // namespace zerotax
