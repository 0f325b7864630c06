// Large blocks: mapped, cached when freed, taken from the cache again. What libmalloc-116's
// large_malloc and free_large do (src/magazine_large.c).
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_LARGE_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_LARGE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "largecache/in_use_table.h"
#include "largecache/largecache.h"
#include "largecache/lock.h"
#include "largecache/policy.h"
#include "largecache/ring.h"

namespace zerotax::largecache {

/// What the program was promised about a new block's bytes.
enum class Contents { kAny, kZero };

/// Thread-safe; one lock, never held during memset, madvise or the munmap of a block.
/// Constant-initialised and never destroyed, because malloc is called before constructors and after
/// destructors.
class LargeHeap {
 public:
  /// Fills in a policy; false when it may answer differently later (config.h,
  /// PolicyFromEnvironment).
  using PolicySource = bool (*)(Policy&);

  /// Reads its policy from `source` when it is first needed.
  constexpr explicit LargeHeap(PolicySource source) : source_(source) {}
  constexpr explicit LargeHeap(const Policy& policy) : threshold_(policy.threshold), policy_(policy) {}
  LargeHeap(const LargeHeap&) = delete;
  LargeHeap& operator=(const LargeHeap&) = delete;

  /// Is a request of `size` bytes large, hence for Allocate()?
  [[nodiscard]] bool IsLarge(std::size_t size) {
    return size > threshold_.load(std::memory_order_acquire) && IsLargeUnlessUnread(size);
  }

  /// A block of at least `size` bytes at a multiple of `alignment` (a power of two; at least a page
  /// whatever it says), or nullptr with errno ENOMEM. IsLarge(size) has been asked.
  void* Allocate(std::size_t size, std::size_t alignment, Contents contents);

  /// Bytes of the block that starts at `pointer`: whole pages, more than was asked for when it came
  /// from the cache. 0 when it is none of ours. Stops the process when the block has been freed.
  [[nodiscard]] std::size_t UsableSize(const void* pointer);

  /// Frees the block that starts at `pointer`, to the cache or to the system. False when it is none
  /// of ours. Preserves errno. Stops the process, naming the pointer, when the block is in the
  /// cache already.
  bool Free(void* pointer);

  /// Makes a block of ours of `old_size` = UsableSize(pointer) bytes hold `size` > 0 bytes where it
  /// is. False when it must move instead; nothing has changed then.
  bool ResizeInPlace(void* pointer, std::size_t old_size, std::size_t size);

  void Statistics(struct largecache_statistics& out);

  // Around fork(). The cache is neither flushed nor changed, as in libmalloc.
  void PrepareFork() { lock_.PrepareFork(); }
  void ParentAfterFork() { lock_.ParentAfterFork(); }
  void ChildAfterFork() { lock_.ChildAfterFork(); }

 private:
  bool IsLargeUnlessUnread(std::size_t size);
  // These take lock_ themselves.
  std::uintptr_t TakeCached(std::size_t size, std::size_t alignment, Contents contents, bool& must_zero);
  bool Register(std::uintptr_t address, std::size_t size);
  void Recache(const CachedBlock& block);
  void Record(std::uintptr_t address, std::size_t size);
  // These want it taken.
  CachedBlock PushLocked(const CachedBlock& block);
  void StopIfCached(std::uintptr_t address, const char* call) const;

  PolicySource source_ = nullptr;
  // A copy of policy_.threshold that is read without the lock; 0 until the policy has been read for
  // good.
  std::atomic<std::size_t> threshold_{0};
  Lock lock_;
  Policy policy_;
  Ring ring_;
  InUseTable in_use_;
  struct largecache_statistics statistics_ = {};
};

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_LARGE_H_
