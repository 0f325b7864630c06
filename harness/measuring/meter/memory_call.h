#pragma once

#include "os/page.h"
#include "os/syscall_trap.h"

namespace zerotax {

/// Finds how a system call changes pages of the process that makes it.

/// Returns the end of the heap, brk(0), with a call that is not dispatched.
std::uintptr_t program_break();

/// Returns the equivalent madvise for a process_madvise of one range, and any other call unchanged. The functions below
/// require a call that this function returned.
SystemCall in_plain_words(const SystemCall& call);

/// Returns the pages that the call is about to remove, by unmapping, purging or moving. `heap_end` is the end of the
/// heap before the call.
AddressRange dropped_by(const SystemCall& call, std::uintptr_t heap_end);

/// Returns pages that the call keeps, or may keep, but that may be unreadable or changed after the call (mprotect,
/// MADV_FREE).
AddressRange hidden_by(const SystemCall& call);

/// Returns a range in which the call may have populated pages without any store. Causes are a populated or locked
/// mapping (after mlockall(MCL_FUTURE), any mapping), MADV_POPULATE_*, mlock, and a heap that grew. The pagemap shows
/// which pages are populated.
AddressRange populated_by(const SystemCall& call, long result, std::uintptr_t heap_end);

/// Returns the part of the range returned by populated_by() that is mapped before the call.
AddressRange target_of(const SystemCall& call);

/// Returns where mremap moved pages with their contents, or an empty range if the call moved none.
AddressRange moved_by(const SystemCall& call, long result);

/// Effects that the call has on pages and that the functions above do not report.
enum class Unfollowed {
  kNothing,
  kPopulates,  ///< pages may be populated with any contents
  kTakesAway,  ///< pages may also disappear after stores to them
};
Unfollowed unfollowed_by(const SystemCall& call);

/// Returns the pages of a userfaultfd ioctl. The tracker must not register pages that the program itself registers.
AddressRange registered_by(const SystemCall& call);

}  // namespace zerotax
