#pragma once

#include "os/page.h"
#include "os/undispatched.h"

namespace zerotax {

/// What a system call does to pages of the process that makes it.

/// Where the heap ends: brk(0), by a call that is not dispatched.
std::uintptr_t program_break();

/// A process_madvise of one range as the equivalent madvise; any other call unchanged. To be used in place of the call.
SystemCall in_plain_words(const SystemCall& call);

/// The pages that the call is about to take away, by unmapping, purging or moving them. `heap_end`: before the call.
AddressRange dropped_by(const SystemCall& call, std::uintptr_t heap_end);

/// The pages that stay, or may stay, but cannot be read or relied on after the call: mprotect, MADV_FREE.
AddressRange hidden_by(const SystemCall& call);

/// The pages that the call may have populated though nobody stored to them: a mapping that is populated or locked (as
/// any is after mlockall(MCL_FUTURE)), MADV_POPULATE_*, mlock, a heap that grew. Ask the pagemap which.
AddressRange populated_by(const SystemCall& call, long result, std::uintptr_t heap_end);

/// Of them, those that are mapped before the call.
AddressRange target_of(const SystemCall& call);

/// Where the call moved pages to, contents and all: mremap. Empty if it moved none.
AddressRange moved_by(const SystemCall& call, long result);

/// What the call may do to pages in a way that the functions above do not report.
enum class Unfollowed {
  kNothing,
  kPopulates,  ///< pages may be there, and hold anything
  kTakesAway,  ///< or be gone, whatever was stored to them
};
Unfollowed unfollowed_by(const SystemCall& call);

/// The pages that an ioctl of userfaultfd is about. Whoever registers pages with it himself must find them free.
AddressRange registered_by(const SystemCall& call);

}  // namespace zerotax
