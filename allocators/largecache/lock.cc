#include "largecache/lock.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <cerrno>

namespace zerotax::largecache {
namespace {

static_assert(std::endian::native == std::endian::little, "the kernel compares the lower half of an owner");

// Waits for, or wakes on, the lower half of the word, which contains the kAwaited flag. If two owners have the same
// lower half, a thread may wait for the wrong owner, which does no harm.
void futex(std::atomic<std::uintptr_t>& word, int what, std::uint32_t value) {
  const int saved_errno = errno;
  syscall(SYS_futex, &word, what | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
  errno = saved_errno;
}

}  // namespace

void Lock::lock_slowly() noexcept {
  if (is_mine()) {  // inside fork(); an interrupted thread never asks for the lock
    inside_ = true;
    return;
  }
  std::uintptr_t owner = owner_.load(std::memory_order_relaxed);
  for (;;) {
    if (owner == 0) {
      // Other threads may still be waiting, so the flag stays set.
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
    ++skipped_;  // a signal handler forks: the thread finishes its work in both processes
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
