#include "observe/fault.h"

#include <algorithm>
#include <utility>

#include "os/kernel_version.h"
#include "os/page.h"

namespace zerotax {
namespace {

/// Maximum number of open faults of a thread. Faults nest in interrupts and NMIs, but not deeper. More open faults mean
/// that end events were lost.
constexpr std::size_t kDeepest = 4;
constexpr std::uint64_t kPresent = 1;  // bits of the CPU's error code (Intel SDM, volume 3, 4.7)
constexpr std::uint64_t kWrite = 2;
constexpr std::uint64_t kUser = 4;

Fault begun(const FaultEvent& event) {
  Fault fault;
  fault.begin_ns = event.time_ns;
  fault.pid = event.pid;
  fault.tid = event.tid;
  fault.address = event.address;
  fault.instruction = event.instruction;
  fault.error_code = event.error_code;
  return fault;
}

}  // namespace

/// A fault from user mode cannot nest within another fault of its thread, so the end events of open faults were lost.
void FaultPairing::begin(Thread& thread, const FaultEvent& event) {
  auto& open = thread.open;
  const bool nested = (event.error_code & kUser) == 0 && open.size() < kDeepest;
  if (!nested) {
    over_.swap(open);
    in_system_calls_.add(std::exchange(thread.allocated, {}));
  }
  open.push_back(begun(event));
}

void FaultPairing::end(Thread& thread, const FaultEvent& event) {
  auto& open = thread.open;
  const auto ended = std::find_if(open.rbegin(), open.rend(), [&](const Fault& fault) {
    return page_floor(fault.address) == page_floor(event.address);
  });
  if (ended == open.rend()) return;  // the start event was lost
  ended->end_ns = event.time_ns;
  ended->major = event.major;
  over_.swap(open);
  thread.allocated = {};
}

SystemCallPages FaultPairing::in_system_calls() const {
  SystemCallPages all = in_system_calls_;
  for (const auto& [tid, thread] : open_) all.add(thread.allocated);
  return all;
}

const std::vector<Fault>& FaultPairing::apply(const FaultEvent& event) {
  over_.clear();
  switch (event.kind) {
    case FaultEvent::Kind::kBegin:
      begin(open_[event.tid], event);
      break;
    case FaultEvent::Kind::kAllocation: {
      Thread& thread = open_[event.tid];
      if (event.of_program) ++(event.zeroed || event.order > 0 ? thread.allocated.zero_fills : thread.allocated.copies);
      if (thread.open.empty()) in_system_calls_.add(std::exchange(thread.allocated, {}));
      // The allocation belongs to the thread's open fault that ends first. All open faults record the allocation,
      // because a fault that never ends is classified as kOther.
      for (Fault& fault : thread.open) {
        if (fault.allocated || !event.movable) continue;
        fault.allocated = true;
        fault.zeroed = event.zeroed;
        fault.order = event.order;
      }
      break;
    }
    case FaultEvent::Kind::kEnd: {
      const auto thread = open_.find(event.tid);
      if (thread != open_.end()) end(thread->second, event);
      break;
    }
    case FaultEvent::Kind::kFault: {
      Fault fault = begun(event);
      fault.end_ns = event.time_ns;
      fault.error_code = kPresent | kWrite | kUser;  // makes bytes() and copied_bytes() return one page
      over_.push_back(fault);
      break;
    }
    default:
      break;
  }
  return over_;
}

FaultClass classify(const Fault& fault, const Region* region) {
  // Huge pages of hugetlbfs come from a pool, so copying them causes no allocation event.
  if (fault.end_ns == 0 || (region != nullptr && region->hugetlb)) return FaultClass::kOther;
  const bool present = (fault.error_code & kPresent) != 0;
  const bool write = fault.is_write();
  const bool of_file = region != nullptr && region->of_file();
  if (of_file && region->shared) return FaultClass::kFile;
  if (present && write) {
    if (!fault.allocated) return FaultClass::kReuse;
    // Since Linux 5.8, copies use base pages. A fault that allocates a huge page therefore replaces the huge zero page.
    const bool replaces_zeros = fault.order > 0 && kernel_is_at_least(5, 8);
    return fault.zeroed || replaces_zeros ? FaultClass::kZeroFill : FaultClass::kCopy;
  }
  if (present) return FaultClass::kOther;
  if (of_file) return write ? FaultClass::kCopy : FaultClass::kFile;
  // The kernel zeroes a huge page after allocating it, without the allocation flag for zeroed pages.
  if (fault.allocated && (fault.zeroed || fault.order > 0)) return FaultClass::kZeroFill;
  // The kernel reports no mremap, so the page may belong to a file. Only copying a file's page allocates a page that is
  // neither zeroed nor read from swap.
  return fault.allocated && write && !fault.major ? FaultClass::kCopy : FaultClass::kOther;
}

const char* fault_class_name(FaultClass kind) {
  switch (kind) {
    case FaultClass::kCopy:
      return "copy";
    case FaultClass::kReuse:
      return "reuse";
    case FaultClass::kZeroFill:
      return "zero_fill";
    case FaultClass::kFile:
      return "file";
    case FaultClass::kOther:
      break;
  }
  return "other";
}

void ClassCounts::add(FaultClass kind, std::uint64_t times) {
  switch (kind) {
    case FaultClass::kCopy:
      copies += times;
      break;
    case FaultClass::kReuse:
      reuses += times;
      break;
    case FaultClass::kZeroFill:
      zero_fills += times;
      break;
    case FaultClass::kFile:
      file_faults += times;
      break;
    case FaultClass::kOther:
      other += times;
      break;
  }
}

void FaultCounts::add(const Fault& fault, FaultClass kind, bool refill, std::uint64_t times) {
  ClassCounts::add(kind, times);
  if (refill) refills += times;
  if (fault.in_kernel()) kernel += times;
  if (kind == FaultClass::kCopy) {
    copied_bytes += times * fault.copied_bytes();
    copy_ns += times * (fault.end_ns - fault.begin_ns);
  }
  if (kind == FaultClass::kZeroFill) zeroed_bytes += times * fault.bytes();
}

void FaultCounts::add(const FaultCounts& more) {
  copies += more.copies;
  reuses += more.reuses;
  zero_fills += more.zero_fills;
  refills += more.refills;
  file_faults += more.file_faults;
  other += more.other;
  kernel += more.kernel;
  copied_bytes += more.copied_bytes;
  file_copied_bytes += more.file_copied_bytes;
  zeroed_bytes += more.zeroed_bytes;
  copy_ns += more.copy_ns;
}

bool FilledPages::add(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t size = page_bytes();
  const std::uint64_t first = address / bytes * bytes / size;  // the huge page may begin before the address
  const std::uint64_t asked = address / size;
  const bool known = regions_[asked / kPages].test(asked % kPages);
  for (std::uint64_t page = first; page < first + bytes / size; ++page) {
    regions_[page / kPages].set(page % kPages);
  }
  return known;
}

}  // namespace zerotax
