#include "meter/memory_call.h"

#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>

namespace zerotax {
namespace {

// From include/uapi/asm-generic/mman-common.h. Debian 12's headers have these constants, but older headers do not.
constexpr long kMadvPopulateRead = 22;
constexpr long kMadvPopulateWrite = 23;
constexpr long kMadvDontneedLocked = 24;
constexpr long kMadvCollapse = 25;
constexpr long kMadvGuardInstall = 102;  // since Linux 6.13

AddressRange pages(long begin, long bytes) {
  const auto from = static_cast<std::uintptr_t>(begin);
  return AddressRange{from, from + static_cast<std::uintptr_t>(bytes)}.pages();
}

// Numbers of userfaultfd's ioctls, which all have type 0xAA (include/uapi/linux/userfaultfd.h).
constexpr long kUffdType = 0xaa;
constexpr long kUffdRegister = 0x00;
constexpr long kUffdUnregister = 0x01;
constexpr long kUffdWake = 0x02;
constexpr long kUffdCopy = 0x03;
constexpr long kUffdMove = 0x05;
constexpr long kUffdWriteProtect = 0x06;
constexpr long kUffdApi = 0x3f;

long uffd_number(const SystemCall& call) {
  if (call.number != SYS_ioctl || ((call.arguments[1] >> 8) & 0xff) != kUffdType) return -1;
  return call.arguments[1] & 0xff;
}

/// Highest system call number. System calls of x32 programs have far larger numbers.
constexpr long kLastNumber = 511;

bool drops(long advice) {
  return advice == MADV_DONTNEED || advice == MADV_REMOVE || advice == kMadvDontneedLocked ||
         advice == kMadvGuardInstall;
}

}  // namespace

SystemCall in_plain_words(const SystemCall& call) {
  if (call.number != SYS_process_madvise || call.arguments[2] != 1) return call;
  // The call may be for another process. The kernel then permits no advice that removes pages, so the translation does
  // no harm.
  iovec range{};
  if (!read_own_memory(call.arguments[1], &range, sizeof range)) return call;
  return {SYS_madvise,
          {reinterpret_cast<long>(range.iov_base), static_cast<long>(range.iov_len), call.arguments[3], 0, 0, 0}};
}

AddressRange registered_by(const SystemCall& call) {
  switch (uffd_number(call)) {
    case -1:
    case kUffdApi:
    case kUffdWake:
      return {};
    case kUffdCopy:
    case kUffdMove: {
      std::uint64_t to_from_bytes[3] = {};
      if (!read_own_memory(call.arguments[2], &to_from_bytes, sizeof to_from_bytes)) return {};
      return pages(static_cast<long>(to_from_bytes[0]), static_cast<long>(to_from_bytes[2]));
    }
    default: {
      std::uint64_t begin_bytes[2] = {};
      if (!read_own_memory(call.arguments[2], &begin_bytes, sizeof begin_bytes)) return {};
      return pages(static_cast<long>(begin_bytes[0]), static_cast<long>(begin_bytes[1]));
    }
  }
}

std::uintptr_t program_break() { return static_cast<std::uintptr_t>(zerotax_syscall(SYS_brk, 0, 0, 0, 0, 0, 0)); }

AddressRange dropped_by(const SystemCall& call, std::uintptr_t heap_end) {
  const auto& a = call.arguments;
  switch (call.number) {
    case SYS_munmap:
    case SYS_mremap:
      return pages(a[0], a[1]);
    case SYS_mmap:
      return (a[3] & MAP_FIXED) != 0 ? pages(a[0], a[1]) : AddressRange{};
    case SYS_madvise:
      return drops(a[2]) ? pages(a[0], a[1]) : AddressRange{};
    case SYS_brk: {
      const AddressRange cut{page_ceiling(static_cast<std::uintptr_t>(a[0])), page_ceiling(heap_end)};
      return a[0] != 0 && cut.bytes() > 0 ? cut : AddressRange{};
    }
    default:
      return {};
  }
}

AddressRange hidden_by(const SystemCall& call) {
  const auto& a = call.arguments;
  const bool closed = (call.number == SYS_mprotect || call.number == SYS_pkey_mprotect) && (a[2] & PROT_READ) == 0;
  const bool lazy = call.number == SYS_madvise && a[2] == MADV_FREE;
  return closed || lazy ? pages(a[0], a[1]) : AddressRange{};
}

AddressRange populated_by(const SystemCall& call, long result, std::uintptr_t heap_end) {
  const auto& a = call.arguments;
  switch (call.number) {
    case SYS_mmap:
      return pages(result, a[1]);
    case SYS_mlock:
    case SYS_mlock2:
      return pages(a[0], a[1]);
    case SYS_mprotect:  // populates a locked mapping that becomes writable
    case SYS_pkey_mprotect:
      return (a[2] & PROT_WRITE) != 0 ? pages(a[0], a[1]) : AddressRange{};
    case SYS_madvise:
      return a[2] == kMadvPopulateRead || a[2] == kMadvPopulateWrite || a[2] == kMadvCollapse ? pages(a[0], a[1])
                                                                                              : AddressRange{};
    case SYS_brk: {
      const AddressRange grown{page_floor(heap_end), page_ceiling(static_cast<std::uintptr_t>(result))};
      return grown.bytes() > 0 && static_cast<std::uintptr_t>(result) > heap_end ? grown : AddressRange{};
    }
    default:
      return {};
  }
}

AddressRange target_of(const SystemCall& call) {
  return call.number == SYS_mmap || call.number == SYS_brk ? AddressRange{} : populated_by(call, 0, 0);
}

AddressRange moved_by(const SystemCall& call, long result) {
  return call.number == SYS_mremap ? pages(result, call.arguments[2]) : AddressRange{};
}

Unfollowed unfollowed_by(const SystemCall& call) {
  if (call.number < 0 || call.number > kLastNumber) return Unfollowed::kTakesAway;
  switch (call.number) {
    case SYS_mlockall:
      return (call.arguments[0] & MCL_CURRENT) != 0 ? Unfollowed::kPopulates : Unfollowed::kNothing;
    case SYS_process_madvise:
    case SYS_io_uring_setup:
    case SYS_io_uring_enter:
    case SYS_io_uring_register:
    case SYS_remap_file_pages:
    case SYS_shmdt:
      return Unfollowed::kTakesAway;
    case SYS_shmat:
      return (call.arguments[2] & SHM_REMAP) != 0 ? Unfollowed::kTakesAway : Unfollowed::kNothing;
    default:
      break;
  }
  switch (uffd_number(call)) {
    case -1:
    case kUffdApi:
    case kUffdWake:
    case kUffdRegister:
    case kUffdUnregister:
    case kUffdWriteProtect:
      return Unfollowed::kNothing;
    case kUffdMove:
      return Unfollowed::kTakesAway;
    default:
      return Unfollowed::kPopulates;
  }
}

}  // namespace zerotax
