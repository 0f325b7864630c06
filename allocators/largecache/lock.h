// The one lock: usable before any constructor has run, and it knows which thread has it.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_LOCK_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_LOCK_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace zerotax::largecache {

/// Usable with std::lock_guard. Not recursive, except for the thread that is inside fork().
///
/// That exception is needed because fork handlers of libraries that registered theirs before us run
/// while we hold the lock, in prepare after ours and in parent and child before ours
/// (pthread_atfork(3) gives the order), and may well allocate. The state they find is consistent:
/// this very thread has taken the lock.
///
/// Not a mutex of the C library: those note their owner after they are taken, and a signal may come in between.
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

  /// Has the calling thread the lock, for something that is not finished? Then it runs a signal handler that came in
  /// between: POSIX lets none call malloc or free, and many do. It must not wait for the lock.
  [[nodiscard]] bool is_interrupted() const noexcept { return is_mine() && (!forking_ || inside_); }

  /// Before fork(): waits until no other thread is inside, and keeps them out.
  void prepare_fork() noexcept;
  /// After fork(), in the parent as in the child, which is the same thread. Those that waited do not exist in a child.
  void after_fork() noexcept;

 private:
  // Added to the owner while others wait.
  static constexpr std::uintptr_t kAwaited = 1;

  // Unique among the threads that run, even, and what it was in a child.
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
  // Relaxed is enough: only a value that this thread stored itself can compare equal.
  [[nodiscard]] bool is_mine() const noexcept { return (owner_.load(std::memory_order_relaxed) & ~kAwaited) == self(); }
  void lock_slowly() noexcept;
  void wake_one() noexcept;

  std::atomic<std::uintptr_t> owner_{0};
  // The owner's own.
  bool forking_ = false;  // it is inside fork()
  bool inside_ = false;   // it is, and has taken the lock once more
  unsigned skipped_ = 0;  // forks of signal handlers that came while it had the lock
};

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_LOCK_H_
