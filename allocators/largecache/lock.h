// The heap's only lock. The lock is usable before any constructor has run, and knows the thread that holds it.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_LOCK_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_LOCK_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace zerotax::largecache {

/// A lock for std::lock_guard. Not recursive, except for the thread that is inside fork().
///
/// The exception is for fork handlers of libraries that registered before us, which may allocate. These handlers run
/// while we hold the lock: after our own handler in prepare, before ours in parent and child (pthread_atfork(3) gives
/// the order). The state that they find is consistent, because their own thread has taken the lock.
///
/// A mutex of the C library would not do: it records its owner after it is taken, and a signal may arrive in between.
class Lock {
 public:
  void lock() noexcept {
    std::uintptr_t nobody = 0;
    if (!owner_.compare_exchange_strong(nobody, self(), std::memory_order_acquire, std::memory_order_relaxed)) {
      lock_slowly();
    }
  }
  void unlock() noexcept {
    if (inside_) {
      inside_ = false;
    } else if ((owner_.exchange(0, std::memory_order_release) & kAwaited) != 0) {
      wake_one();
    }
  }

  /// Whether the calling thread holds the lock for unfinished work. If it does, the caller is a signal handler that
  /// interrupted the work, and must not wait for the lock. POSIX forbids malloc and free in handlers, but many handlers
  /// call them.
  [[nodiscard]] bool is_interrupted() const noexcept { return is_mine() && (!forking_ || inside_); }

  /// Must be called before fork(). Waits until no other thread holds the lock, and keeps the lock until after_fork.
  void prepare_fork() noexcept;
  /// Must be called after fork(), in parent and child. In both processes, the thread that forked makes the call.
  /// Waiting threads do not exist in a child.
  void after_fork() noexcept;

 private:
  // Flag in the owner word that is set while other threads wait.
  static constexpr std::uintptr_t kAwaited = 1;

  // Returns an even number that is unique among running threads. A child of fork has the same number as its parent.
  static std::uintptr_t self() noexcept {
#if defined(__x86_64__)
    std::uintptr_t pointer;
    asm("mov %%fs:0, %0" : "=r"(pointer));
    return pointer;
#elif defined(__aarch64__)
    return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
#else
    return reinterpret_cast<std::uintptr_t>(pthread_self());
#endif
  }
  // Relaxed order is enough, because only a value that this thread stored itself can compare equal.
  [[nodiscard]] bool is_mine() const noexcept { return (owner_.load(std::memory_order_relaxed) & ~kAwaited) == self(); }
  void lock_slowly() noexcept;
  void wake_one() noexcept;

  std::atomic<std::uintptr_t> owner_{0};
  // Only the owner uses these members.
  bool forking_ = false;  // the owner is inside fork()
  bool inside_ = false;   // the owner is inside fork(), and has taken the lock a second time
  unsigned skipped_ = 0;  // number of forks by signal handlers while the owner held the lock
};

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_LOCK_H_
