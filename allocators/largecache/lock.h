// The one lock. A pthread mutex that is initialised statically: usable before any constructor has
// run.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_LOCK_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_LOCK_H_

#include <pthread.h>

#include <atomic>

namespace zerotax::largecache {

/// Usable with std::lock_guard. Not recursive, except for the thread that is inside fork().
///
/// That exception is needed because fork handlers of libraries that registered theirs before us run
/// while we hold the lock, in prepare after ours and in parent and child before ours
/// (pthread_atfork(3) gives the order), and may well allocate. The state they find is consistent:
/// this very thread has taken the lock.
class Lock {
 public:
  void lock() noexcept {
    if (!HeldForFork()) pthread_mutex_lock(&mutex_);
  }
  void unlock() noexcept {
    if (!HeldForFork()) pthread_mutex_unlock(&mutex_);
  }

  /// Before fork(): waits until no other thread is inside, and keeps them out.
  void PrepareFork() noexcept {
    pthread_mutex_lock(&mutex_);
    forking_.store(pthread_self(), std::memory_order_relaxed);
  }
  /// After fork(), in the parent.
  void ParentAfterFork() noexcept {
    forking_.store(pthread_t{}, std::memory_order_relaxed);
    pthread_mutex_unlock(&mutex_);
  }
  /// After fork(), in the child: the threads that waited for the lock do not exist here.
  void ChildAfterFork() noexcept {
    forking_.store(pthread_t{}, std::memory_order_relaxed);
    pthread_mutex_init(&mutex_, nullptr);
  }

 private:
  // Relaxed is enough: only a value that this thread stored itself can compare equal.
  [[nodiscard]] bool HeldForFork() const noexcept { return forking_.load(std::memory_order_relaxed) == pthread_self(); }

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  std::atomic<pthread_t> forking_{};
};

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_LOCK_H_
