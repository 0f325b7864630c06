// Large blocks: mapped, cached when freed, taken from the cache again. The mechanics are those of libmalloc-116's
// large_malloc and free_large (src/magazine_large.c); a policy (policy.h) makes the decisions.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_LARGE_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_LARGE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "largecache/adaptive/history_pool.h"
#include "largecache/adaptive/read_habit.h"
#include "largecache/in_use_table.h"
#include "largecache/largecache.h"
#include "largecache/lock.h"
#include "largecache/pages.h"
#include "largecache/policy.h"
#include "largecache/ring.h"

namespace zerotax::largecache {

/// What the program may expect of a new block's bytes.
enum class Contents { kAny, kZero };

/// Thread-safe; one lock, never held during memset, madvise or the munmap of a block. A signal handler that interrupts
/// the thread which has the lock is served without it: the C library gets its requests, its frees are put off until
/// the lock is free, and blocks stay where and as long as they are.
/// Constant-initialised and never destroyed, because malloc is called before constructors and after
/// destructors.
class LargeHeap {
 public:
  /// Fills in the settings; false when it may answer differently later (config.h,
  /// settings_from_environment).
  using SettingsSource = bool (*)(Settings&);

  /// Arranges for heap.decay() to be called periodically until it returns false. False if this is not possible.
  using DecayStarter = bool (*)(LargeHeap& heap);

  /// Reads its settings from `source` when it is first needed. `start_decay`, if there is one, is called without a
  /// lock.
  constexpr explicit LargeHeap(SettingsSource source, DecayStarter start_decay = nullptr)
      : source_(source), start_decay_(start_decay) {}
  constexpr explicit LargeHeap(const Settings& settings) : threshold_(settings.threshold), settings_(settings) {}
  LargeHeap(const LargeHeap&) = delete;
  LargeHeap& operator=(const LargeHeap&) = delete;

  /// Is a request of `size` bytes large, hence for allocate()?
  [[nodiscard]] bool is_large(std::size_t size) { return may_be_large(size) && is_large_unless_unread(size); }

  /// The same at a glance: also true as long as the settings have not been read.
  [[nodiscard]] bool may_be_large(std::size_t size) const { return size > threshold_.load(std::memory_order_acquire); }

  /// The same for a request with an alignment, bytes, which may be what makes it large.
  [[nodiscard]] bool is_large(std::size_t size, std::size_t alignment) {
    return is_large(size) || (alignment > kLeastPage && is_large_by_alignment(alignment));
  }

  /// A block of at least `size` bytes at a multiple of `alignment` (a power of two; at least a page
  /// whatever it says), or nullptr with errno ENOMEM. is_large has been asked.
  /// `growing`: realloc asks, and will probably ask for more; see Policy::foresees_growth.
  void* allocate(std::size_t size, std::size_t alignment, Contents contents, bool growing = false);

  /// Has the C library been given large requests, because a signal handler made them amid our own work?
  [[nodiscard]] bool lent() const { return lent_.load(std::memory_order_relaxed); }

  /// Bytes of the block that starts at `pointer`: whole granules of the policy, more than was requested if it came from
  /// the cache. 0 if it is not one of ours. Stops the process if the block has been freed.
  [[nodiscard]] std::size_t usable_size(const void* pointer);

  /// The same, and from now on the program may use them all: it has asked how many there are.
  [[nodiscard]] std::size_t use_all(const void* pointer);

  /// Bytes of a block of ours that realloc has to keep.
  [[nodiscard]] std::size_t asked_size(const void* pointer);

  /// Frees the block that starts at `pointer`, to the cache or to the system. False if it is not one
  /// of ours. Preserves errno. Stops the process, naming the pointer, if the block is already in the
  /// cache.
  bool deallocate(void* pointer);

  /// Makes a block of ours of `old_size` = usable_size(pointer) bytes hold `size` > 0 bytes where it
  /// is. False when it must move instead; nothing has changed then. What is cut off may go to the cache.
  bool resize_in_place(void* pointer, std::size_t old_size, std::size_t size);

  /// Makes it hold `size` > `old_size` bytes at another address, by moving its pages. nullptr, and nothing has changed,
  /// if its bytes have to be copied: the policy does not, there is a block in the cache that is worth it, or the kernel
  /// refuses.
  void* move_grown(void* pointer, std::size_t old_size, std::size_t size);

  /// The policy in use.
  [[nodiscard]] const Policy& policy() const { return *settings_.policy; }

  void statistics(struct largecache_statistics& out);

  /// Gives back blocks that have been cached for longer than the settings allow; all of them if `all`. False if none is
  /// left and the periodic caller may stop: a later free has DecayStarter called again. Always true if the caller wants
  /// to `stay`.
  bool decay(bool all, bool stay = false);

  // Around fork(). The cache is neither flushed nor changed, as in libmalloc.
  void prepare_fork() { lock_.prepare_fork(); }
  void parent_after_fork();
  void child_after_fork();

 private:
  /// Blocks that have left the cache and are still mapped.
  struct Evicted {
    struct Range {
      std::uintptr_t address;
      std::size_t size;
    };
    std::array<Range, Ring::kMaxEntries + 1> blocks;  // not initialised, because every free makes one
    std::size_t count = 0;

    void add(const Block& block) { blocks[count++] = {block.address, block.size}; }
  };

  /// A free that a signal handler asked for; on a page of its own.
  struct PutOff {
    void* pointer;
    PutOff* next;
  };
  /// Sees to those, when a call that takes the lock is over.
  class FreesPutOff {
   public:
    explicit FreesPutOff(LargeHeap& heap) : heap_(heap) {}
    ~FreesPutOff() {
      if (heap_.put_off_.load(std::memory_order_relaxed) != nullptr) heap_.free_put_off();
    }
    FreesPutOff(const FreesPutOff&) = delete;
    FreesPutOff& operator=(const FreesPutOff&) = delete;

   private:
    LargeHeap& heap_;
  };

  /// What the program asked for.
  struct Request {
    std::size_t asked;  // bytes
    Contents contents;
    bool growing;
  };
  static Use use_of(const Request& request) {
    return request.contents == Contents::kZero ? Use::kZeroed : Use::kFilled;
  }

  bool is_large_unless_unread(std::size_t size);
  bool is_large_by_alignment(std::size_t alignment);
  [[nodiscard]] std::optional<std::size_t> round_up(std::size_t size) const;
  [[nodiscard]] std::size_t mapped_size(std::size_t size) const;
  void unmap(const Evicted& evicted) const;
  void* allocate_fresh(std::size_t size, std::size_t alignment, const Request& request);
  void* extend(std::size_t size, const Request& request);
  void* cut(std::size_t size, const Request& request);
  [[nodiscard]] std::uintptr_t map_fresh(std::size_t size, std::size_t alignment);
  [[nodiscard]] std::size_t alignment_of(std::size_t size, std::size_t alignment) const;
  [[nodiscard]] std::size_t with_room(std::size_t size) const;
  [[nodiscard]] bool agrees_with_witness(std::uintptr_t address, std::size_t size) const;
  bool move_longer(Block& block, std::size_t size, bool growing) const;
  // These take lock_ themselves.
  bool take_cached(std::size_t size, std::size_t alignment, const Request& request, Block& block);
  bool put_off_free(void* pointer);
  void free_put_off();
  bool hand_out_if_populated(Block& block, const Request& request);
  bool is_worth_copying(std::size_t asked, std::size_t size);
  void discard(const Block& block);
  bool register_block(std::uintptr_t address, std::size_t size, const Request& request);
  void foresee_reads(std::uintptr_t address, std::size_t size, std::size_t populated);
  void learn_of_reads();
  void recache(Block& block, AtFree how);
  void cache_counted(Block& block);
  void ask(std::uintptr_t address, std::size_t asked);
  bool lengthen(std::uintptr_t address, std::size_t old_size, std::size_t size);
  bool grow(std::uintptr_t address, std::size_t old_size, std::size_t size);
  void shorten(std::uintptr_t address, std::size_t old_size, std::size_t size);
  void record(std::uintptr_t address, std::size_t size);
  void cache_tail(std::uintptr_t address, std::size_t size);
  void start_decaying();
  // These require it to be held.
  struct Choice {
    std::size_t position;
    bool counts;  // its populated pages are to be counted before it is taken
  };
  [[nodiscard]] std::optional<Choice> choose_locked(std::size_t size, std::size_t alignment, Contents contents,
                                                    bool growing) const;
  Block take_out_locked(std::size_t position);
  Block cut_off_locked(Block& block, std::size_t size);
  void hand_out_locked(const Block& block, const Request& request);
  void* hand_out_or_give_up(Block& block, const Request& request, bool usable);
  Block& count_in_use_locked(const Block& block, std::size_t asked);
  void add_in_use_locked(std::size_t bytes);
  void resize_locked(std::uintptr_t address, std::size_t size, std::size_t asked);
  void give_up_locked(const Block& block, Evicted& evicted);
  [[nodiscard]] std::size_t in_use(const Block& block) const;
  [[nodiscard]] std::size_t held(const Block& block) const;
  void record_locked(std::uintptr_t address, std::size_t size);
  [[nodiscard]] std::uintptr_t tail_locked(std::uintptr_t from, std::uintptr_t end) const;
  [[nodiscard]] bool has_room_locked(std::size_t size) const;
  [[nodiscard]] bool wants_decay_locked() const;
  void push_locked(const Block& block, Evicted& evicted);
  void evict_oldest_locked(Evicted& evicted);
  void evict_aged_locked(std::uint32_t now, bool all, Evicted& evicted);
  [[nodiscard]] std::size_t memory_limit_locked() const;
  void stop_if_cached(std::uintptr_t address, const char* call) const;

  SettingsSource source_ = nullptr;
  DecayStarter start_decay_ = nullptr;
  // A copy of settings_.threshold that is read without the lock; 0 until the settings have been read for
  // good.
  std::atomic<std::size_t> threshold_{0};
  std::atomic<std::uint64_t> zeroed_bytes_{0};
  std::atomic<std::uint64_t> purged_bytes_{0};
  std::atomic<PutOff*> put_off_{nullptr};
  std::atomic<bool> lent_{false};
  Lock lock_;
  Settings settings_;
  Ring ring_;
  InUseTable in_use_;
  HistoryPool histories_;
  ReadHabit reads_;
  std::size_t held_bytes_ = 0;  // of the blocks in the ring, what counts for the limit: see held()
  bool decaying_ = false;       // somebody calls decay() by the clock
  struct largecache_statistics statistics_ = {};
};

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_LARGE_H_
