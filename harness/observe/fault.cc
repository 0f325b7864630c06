#include "observe/fault.h"

namespace zerotax {
namespace {

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

std::optional<Fault> FaultPairing::apply(const FaultEvent& event) {
  const auto open = open_.find(event.tid);
  switch (event.kind) {
    case FaultEvent::Kind::kBegin: {
      std::optional<Fault> unfinished;
      if (open != open_.end()) unfinished = open->second;
      open_[event.tid] = begun(event);
      return unfinished;
    }
    case FaultEvent::Kind::kAllocation:
      if (open != open_.end() && !open->second.allocated) {
        open->second.allocated = true;
        open->second.zeroed = event.zeroed;
        open->second.order = event.order;
      }
      return std::nullopt;
    case FaultEvent::Kind::kEnd: {
      if (open == open_.end()) return std::nullopt;
      Fault fault = open->second;
      fault.end_ns = event.time_ns;
      open_.erase(open);
      return fault;
    }
    case FaultEvent::Kind::kFault: {
      Fault fault = begun(event);
      fault.end_ns = event.time_ns;
      fault.error_code = kPresent | kWrite | kUser;  // for its size in bytes: one page
      return fault;
    }
    default:
      return std::nullopt;
  }
}

FaultClass classify(const Fault& fault, const Region* region) {
  // A huge page of hugetlbfs comes from a pool: its copies allocate nothing that is seen.
  if (fault.end_ns == 0 || (region != nullptr && region->hugetlb)) return FaultClass::kOther;
  const bool present = (fault.error_code & kPresent) != 0;
  const bool write = fault.is_write();
  const bool of_file = region != nullptr && region->of_file();
  if (of_file && region->shared) return FaultClass::kFile;
  if (present && write) {
    if (!fault.allocated) return FaultClass::kReuse;
    return fault.zeroed ? FaultClass::kZeroFill : FaultClass::kCopy;
  }
  if (present) return FaultClass::kOther;
  if (of_file) return write ? FaultClass::kCopy : FaultClass::kFile;
  // A huge page is zeroed after it was allocated, and not by the flag.
  return fault.allocated && (fault.zeroed || fault.order > 0) ? FaultClass::kZeroFill : FaultClass::kOther;
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

void ClassCounts::add(FaultClass kind) {
  switch (kind) {
    case FaultClass::kCopy:
      ++copies;
      break;
    case FaultClass::kReuse:
      ++reuses;
      break;
    case FaultClass::kZeroFill:
      ++zero_fills;
      break;
    case FaultClass::kFile:
      ++file_faults;
      break;
    case FaultClass::kOther:
      ++other;
      break;
  }
}

void FaultCounts::add(const Fault& fault, FaultClass kind, bool refill) {
  ClassCounts::add(kind);
  if (refill) ++refills;
  if (fault.in_kernel()) ++kernel;
  if (kind == FaultClass::kCopy) {
    copied_bytes += fault.copied_bytes();
    copy_ns += fault.end_ns - fault.begin_ns;
  }
  if (kind == FaultClass::kZeroFill) zeroed_bytes += fault.bytes();
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
  zeroed_bytes += more.zeroed_bytes;
  copy_ns += more.copy_ns;
}

}  // namespace zerotax
