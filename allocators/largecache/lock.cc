#include "largecache/lock.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <cerrno>

namespace zerotax::largecache {
namespace {

static_assert(std::endian::native == std::endian::little, "the kernel compares the lower half of an owner");

// As this half has the flag of being awaited, an owner whose lower half is the same by chance is waited for, too.
void futex(std::atomic<std::uintptr_t>& word, int what, std::uint32_t value) {
  const int saved_errno = errno;
  syscall(SYS_futex, &word, what | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
  errno = saved_errno;
}

}  // namespace

void Lock::lock_slowly() noexcept {
  if (is_mine()) {  // for fork(): who is interrupted does not ask
    inside_ = true;
    return;
  }
  std::uintptr_t owner = owner_.load(std::memory_order_relaxed);
  for (;;) {
    if (owner == 0) {
      // Whether others wait as well is not known.
      if (owner_.compare_exchange_weak(owner, self() | kAwaited, std::memory_order_acquire)) return;
    } else if ((owner & kAwaited) != 0 ||
               owner_.compare_exchange_weak(owner, owner | kAwaited, std::memory_order_relaxed)) {
      futex(owner_, FUTEX_WAIT, static_cast<std::uint32_t>(owner | kAwaited));
      owner = owner_.load(std::memory_order_relaxed);
    }
  }
}

void Lock::wake_one() noexcept { futex(owner_, FUTEX_WAKE, 1); }

void Lock::prepare_fork() noexcept {
  if (is_mine()) {
    ++skipped_;  // a handler's: the thread finishes what it was doing in both processes
    return;
  }
  lock();
  forking_ = true;
}

void Lock::after_fork() noexcept {
  if (skipped_ > 0) {
    --skipped_;
    return;
  }
  forking_ = false;
  unlock();
}

}  // namespace zerotax::largecache
