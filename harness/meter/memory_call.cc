#include "meter/memory_call.h"

#include <sys/mman.h>
#include <sys/syscall.h>

namespace zerotax {
namespace {

// From include/uapi/asm-generic/mman-common.h; Debian 12's headers have them, older ones do not.
constexpr long kMadvPopulateRead = 22;
constexpr long kMadvPopulateWrite = 23;
constexpr long kMadvDontneedLocked = 24;
constexpr long kMadvCollapse = 25;

AddressRange pages(long begin, long bytes) {
  const auto from = static_cast<std::uintptr_t>(begin);
  return AddressRange{from, from + static_cast<std::uintptr_t>(bytes)}.pages();
}

/// ioctls of userfaultfd: UFFDIO_COPY and UFFDIO_ZEROPAGE populate, UFFDIO_MOVE moves.
bool is_userfaultfd_ioctl(long request) { return ((request >> 8) & 0xff) == 0xaa; }

}  // namespace

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
      return a[2] == MADV_DONTNEED || a[2] == MADV_REMOVE || a[2] == kMadvDontneedLocked ? pages(a[0], a[1])
                                                                                         : AddressRange{};
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
    case SYS_mprotect:  // of a locked mapping that could not be written to
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

bool is_beyond_following(const SystemCall& call) {
  switch (call.number) {
    case SYS_mlockall:
      return (call.arguments[0] & MCL_CURRENT) != 0;
    case SYS_process_madvise:
    case SYS_io_uring_enter:
    case SYS_remap_file_pages:
      return true;
    case SYS_ioctl:
      return is_userfaultfd_ioctl(call.arguments[1]);
    default:
      return false;
  }
}

}  // namespace zerotax
