// Large blocks: mapped, cached when freed, taken from the cache again. The mechanics are those of libmalloc-116's
// large_malloc and free_large (src/magazine_large.c); a policy (policy.h) makes the decisions.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_LARGE_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_LARGE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "largecache/history_pool.h"
#include "largecache/in_use_table.h"
#include "largecache/largecache.h"
#include "largecache/lock.h"
#include "largecache/pages.h"
#include "largecache/policy.h"
#include "largecache/read_habit.h"
#include "largecache/ring.h"

namespace zerotax::largecache {

/// What the program may expect of a new block's bytes.
enum class Contents { kAny, kZero };

/// Thread-safe; one lock, never held during memset, madvise or the munmap of a block.
/// Constant-initialised and never destroyed, because malloc is called before constructors and after
/// destructors.
class LargeHeap {
 public:
  /// Fills in the settings; false when it may answer differently later (config.h,
  /// SettingsFromEnvironment).
  using SettingsSource = bool (*)(Settings&);

  /// Arranges for heap.Decay() to be called periodically until it returns false. False if this is not possible.
  using DecayStarter = bool (*)(LargeHeap& heap);

  /// Reads its settings from `source` when it is first needed. `start_decay`, if there is one, is called without a
  /// lock.
  constexpr explicit LargeHeap(SettingsSource source, DecayStarter start_decay = nullptr)
      : source_(source), start_decay_(start_decay) {}
  constexpr explicit LargeHeap(const Settings& settings) : threshold_(settings.threshold), settings_(settings) {}
  LargeHeap(const LargeHeap&) = delete;
  LargeHeap& operator=(const LargeHeap&) = delete;

  /// Is a request of `size` bytes large, hence for Allocate()?
  [[nodiscard]] bool IsLarge(std::size_t size) { return MayBeLarge(size) && IsLargeUnlessUnread(size); }

  /// The same at a glance: also true as long as the settings have not been read.
  [[nodiscard]] bool MayBeLarge(std::size_t size) const { return size > threshold_.load(std::memory_order_acquire); }

  /// The same for a request with an alignment, bytes, which may be what makes it large.
  [[nodiscard]] bool IsLarge(std::size_t size, std::size_t alignment) {
    return IsLarge(size) || (alignment > kLeastPage && IsLargeByAlignment(alignment));
  }

  /// A block of at least `size` bytes at a multiple of `alignment` (a power of two; at least a page
  /// whatever it says), or nullptr with errno ENOMEM. IsLarge has been asked.
  /// `growing`: realloc asks, and will probably ask for more; see Policy::foresees_growth.
  void* Allocate(std::size_t size, std::size_t alignment, Contents contents, bool growing = false);

  /// Bytes of the block that starts at `pointer`: whole granules of the policy, more than was requested if it came from
  /// the cache. 0 if it is not one of ours. Stops the process if the block has been freed.
  [[nodiscard]] std::size_t UsableSize(const void* pointer);

  /// The same, and from now on the program may use them all: it has asked how many there are.
  [[nodiscard]] std::size_t UseAll(const void* pointer);

  /// Bytes of a block of ours that realloc has to keep.
  [[nodiscard]] std::size_t Asked(const void* pointer);

  /// Frees the block that starts at `pointer`, to the cache or to the system. False if it is not one
  /// of ours. Preserves errno. Stops the process, naming the pointer, if the block is already in the
  /// cache.
  bool Free(void* pointer);

  /// Makes a block of ours of `old_size` = UsableSize(pointer) bytes hold `size` > 0 bytes where it
  /// is. False when it must move instead; nothing has changed then. What is cut off may go to the cache.
  bool ResizeInPlace(void* pointer, std::size_t old_size, std::size_t size);

  /// Makes it hold `size` > `old_size` bytes at another address, by moving its pages. nullptr, and nothing has changed,
  /// if its bytes have to be copied: the policy does not, there is a block in the cache that is worth it, or the kernel
  /// refuses.
  void* MoveGrown(void* pointer, std::size_t old_size, std::size_t size);

  /// The policy in use.
  [[nodiscard]] const Policy& policy() const { return *settings_.policy; }

  void Statistics(struct largecache_statistics& out);

  /// Gives back blocks that have been cached for longer than the settings allow; all of them if `all`. False if none is
  /// left and the periodic caller may stop: a later free has DecayStarter called again. Always true if the caller wants
  /// to `stay`.
  bool Decay(bool all, bool stay = false);

  // Around fork(). The cache is neither flushed nor changed, as in libmalloc.
  void PrepareFork() { lock_.PrepareFork(); }
  void ParentAfterFork();
  void ChildAfterFork();

 private:
  /// Blocks that have left the cache and are still mapped.
  struct Evicted {
    struct Range {
      std::uintptr_t address;
      std::size_t size;
    };
    std::array<Range, Ring::kMaxEntries + 1> blocks;  // not initialised, because every free makes one
    std::size_t count = 0;

    void Add(const Block& block) { blocks[count++] = {block.address, block.size}; }
  };

  /// What the program asked for.
  struct Request {
    std::size_t asked;  // bytes
    Contents contents;
    bool growing;
  };
  static Use UseOf(const Request& request) { return request.contents == Contents::kZero ? Use::kZeroed : Use::kFilled; }

  bool IsLargeUnlessUnread(std::size_t size);
  bool IsLargeByAlignment(std::size_t alignment);
  [[nodiscard]] std::optional<std::size_t> RoundUp(std::size_t size) const;
  [[nodiscard]] std::size_t Mapped(std::size_t size) const;
  void Unmap(const Evicted& evicted) const;
  void* AllocateFresh(std::size_t size, std::size_t alignment, const Request& request);
  void* Extend(std::size_t size, const Request& request);
  void* Cut(std::size_t size, const Request& request);
  [[nodiscard]] std::uintptr_t MapFresh(std::size_t size, std::size_t alignment);
  [[nodiscard]] std::size_t AlignmentOf(std::size_t size, std::size_t alignment) const;
  [[nodiscard]] std::size_t WithRoom(std::size_t size) const;
  [[nodiscard]] bool AgreesWithWitness(std::uintptr_t address, std::size_t size) const;
  bool MoveLonger(Block& block, std::size_t size, bool growing) const;
  // These take lock_ themselves.
  bool TakeCached(std::size_t size, std::size_t alignment, const Request& request, Block& block);
  bool HandOutIfPopulated(Block& block, const Request& request);
  bool IsWorthCopying(std::size_t asked, std::size_t size);
  void Discard(const Block& block);
  bool Register(std::uintptr_t address, std::size_t size, const Request& request);
  void ForeseeReads(std::uintptr_t address, std::size_t size, std::size_t populated);
  void LearnOfReads();
  void Recache(Block& block, AtFree how);
  void CacheCounted(Block& block);
  void Ask(std::uintptr_t address, std::size_t asked);
  bool Lengthen(std::uintptr_t address, std::size_t old_size, std::size_t size);
  bool Grow(std::uintptr_t address, std::size_t old_size, std::size_t size);
  void Shorten(std::uintptr_t address, std::size_t old_size, std::size_t size);
  void Record(std::uintptr_t address, std::size_t size);
  void CacheTail(std::uintptr_t address, std::size_t size);
  void StartDecay();
  // These require it to be held.
  struct Choice {
    std::size_t position;
    bool counts;  // its populated pages are to be counted before it is taken
  };
  [[nodiscard]] std::optional<Choice> ChooseLocked(std::size_t size, std::size_t alignment, Contents contents,
                                                   bool growing) const;
  Block TakeOutLocked(std::size_t position);
  Block CutOffLocked(Block& block, std::size_t size);
  void HandOutLocked(const Block& block, const Request& request);
  void* HandOutOrGiveUp(Block& block, const Request& request, bool usable);
  Block& CountInUseLocked(const Block& block, std::size_t asked);
  void AddInUseLocked(std::size_t bytes);
  void ResizeLocked(std::uintptr_t address, std::size_t size, std::size_t asked);
  void GiveUpLocked(const Block& block, Evicted& evicted);
  [[nodiscard]] std::size_t InUse(const Block& block) const;
  [[nodiscard]] std::size_t Held(const Block& block) const;
  void RecordLocked(std::uintptr_t address, std::size_t size);
  [[nodiscard]] std::uintptr_t TailLocked(std::uintptr_t from, std::uintptr_t end) const;
  [[nodiscard]] bool HasRoomLocked(std::size_t size) const;
  [[nodiscard]] bool WantsDecayLocked() const;
  void PushLocked(const Block& block, Evicted& evicted);
  void EvictOldestLocked(Evicted& evicted);
  void EvictAgedLocked(std::uint32_t now, bool all, Evicted& evicted);
  [[nodiscard]] std::size_t MemoryLimitLocked() const;
  void StopIfCached(std::uintptr_t address, const char* call) const;

  SettingsSource source_ = nullptr;
  DecayStarter start_decay_ = nullptr;
  // A copy of settings_.threshold that is read without the lock; 0 until the settings have been read for
  // good.
  std::atomic<std::size_t> threshold_{0};
  std::atomic<std::uint64_t> zeroed_bytes_{0};
  std::atomic<std::uint64_t> purged_bytes_{0};
  Lock lock_;
  Settings settings_;
  Ring ring_;
  InUseTable in_use_;
  HistoryPool histories_;
  ReadHabit reads_;
  std::size_t held_bytes_ = 0;  // of the blocks in the ring, what counts for the limit: see Held()
  bool decaying_ = false;       // somebody calls Decay() by the clock
  struct largecache_statistics statistics_ = {};
};

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_LARGE_H_
