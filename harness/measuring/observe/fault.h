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

/// One page fault.
struct Fault {
  std::uint64_t begin_ns = 0;  ///< CLOCK_MONOTONIC
  std::uint64_t end_ns = 0;    ///< 0: it was not handled (a signal), or its end was lost
  pid_t pid = 0;
  pid_t tid = 0;
  std::uint64_t address = 0;
  std::uint64_t instruction = 0;  ///< that took it; of the kernel, where the kernel took it for a system call
  std::uint64_t error_code = 0;   ///< of the CPU
  bool allocated = false;         ///< pages that can be moved
  bool zeroed = false;            ///< and asked for them to be zeroed
  unsigned order = 0;             ///< 2^order of them
  bool major = false;             ///< the kernel read something, as from swap

  [[nodiscard]] bool in_kernel() const { return (error_code & 4) == 0; }
  [[nodiscard]] bool is_write() const { return (error_code & 2) != 0; }
  [[nodiscard]] std::uint64_t bytes() const { return std::uint64_t{page_bytes()} << order; }
  /// Of one that copied. A write to a page of a file that was not there may have allocated the file's page first.
  [[nodiscard]] std::uint64_t copied_bytes() const { return (error_code & 1) != 0 ? bytes() : page_bytes(); }
};

/// Pages that the kernel allocated in system calls, in the same way as for copies and zero-fills, but without a page
/// fault.
struct SystemCallPages {
  std::uint64_t copies = 0;
  std::uint64_t zero_fills = 0;

  void add(const SystemCallPages& more) {
    copies += more.copies;
    zero_fills += more.zero_fills;
  }
};

/// Makes faults of the events of their threads, which must come in the order of their time. One that is reported by
/// kFault is complete, and counts as a write to a page that was there.
///
/// An interrupt may come while a fault is being handled, and fault itself: a profiler reads the stack so. The kernel
/// lets such an access fail at once, so it allocates nothing and has no end (arch/x86/mm/fault.c,
/// faulthandler_disabled).
class FaultPairing {
 public:
  /// The faults that are known to be over by this event, mostly one or none; valid until the next call.
  const std::vector<Fault>& apply(const FaultEvent& event);
  /// Forgets faults that have not ended.
  void forget() { open_.clear(); }
  /// Pages that were allocated outside of handled faults.
  [[nodiscard]] SystemCallPages in_system_calls() const;

 private:
  struct Thread {
    std::vector<Fault> open;  ///< in the order in which they began
    /// Pages allocated since then. If the faults are not handled (a signal), system calls allocated these pages.
    SystemCallPages allocated;
  };
  void begin(Thread& thread, const FaultEvent& event);
  void end(Thread& thread, const FaultEvent& event);

  std::map<pid_t, Thread> open_;
  std::vector<Fault> over_;
  SystemCallPages in_system_calls_;
};

/// What a fault was, by the CPU's error code, what it allocated, and what lies there (null: not known). The rules and
/// their sources are in docs/cow.md.
FaultClass classify(const Fault& fault, const Region* region);

/// As files have it: copy, reuse, zero_fill, file, other.
const char* fault_class_name(FaultClass kind);

/// Faults of each class.
struct ClassCounts {
  std::uint64_t copies = 0;
  std::uint64_t reuses = 0;
  std::uint64_t zero_fills = 0;
  std::uint64_t file_faults = 0;
  std::uint64_t other = 0;

  /// One that stands for so many.
  void add(FaultClass kind, std::uint64_t times = 1);
  [[nodiscard]] std::uint64_t all() const { return copies + reuses + zero_fills + file_faults + other; }
};

/// The same, and what they cost.
struct FaultCounts : ClassCounts {
  std::uint64_t refills = 0;  ///< of the zero-fills: where the process had a page of its own before
  std::uint64_t kernel = 0;   ///< of all: taken by the kernel itself, as in read(2)
  std::uint64_t copied_bytes = 0;
  std::uint64_t zeroed_bytes = 0;
  std::uint64_t copy_ns = 0;  ///< from the beginning to the end of the copies

  void add(const Fault& fault, FaultClass kind, bool refill = false, std::uint64_t times = 1);
  void add(const FaultCounts& more);
};

/// Where the kernel gave a process a page of its own, zeroed or copied: where it zeroes one again, the memory went back
/// in between. A lower bound of what comes back, for memory may return at another address.
class FilledPages {
 public:
  /// Adds the pages from the one of this address on; `bytes`: of whole pages. True if the first of them was
  /// there.
  bool add(std::uint64_t address, std::uint64_t bytes);
  void clear() { regions_.clear(); }

 private:
  static constexpr std::uint64_t kPages = 512;  ///< of a region: those of one page table of x86-64
  std::unordered_map<std::uint64_t, std::bitset<kPages>> regions_;
};

}  // namespace zerotax
