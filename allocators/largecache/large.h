// Large blocks: mapped, cached when freed, and reused from the cache. The mechanics are those of libmalloc-116's
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

/// The content that the program may expect in a new block.
enum class Contents { kAny, kZero };

/// A thread-safe heap with one lock, which is never held during memset, madvise or the munmap of a block.
///
/// A signal handler may interrupt a thread that holds the lock. The handler is then served without the lock: the C
/// library serves its requests, its frees are deferred until the lock is free, and its blocks keep their place and
/// length.
///
/// The heap is constant-initialized and never destroyed, because malloc is called before constructors and after
/// destructors.
class LargeHeap {
 public:
  /// Fills in the settings. Returns false if a later call may give other settings (config.h,
  /// settings_from_environment).
  using SettingsSource = bool (*)(Settings&);

  /// Starts a caller that calls heap.decay() periodically until it returns false. Returns false if no caller can be
  /// started.
  using DecayStarter = bool (*)(LargeHeap& heap);

  /// `source` gives the settings on first use. `start_decay`, if not null, is called without a lock.
  constexpr explicit LargeHeap(SettingsSource source, DecayStarter start_decay = nullptr)
      : source_(source), start_decay_(start_decay) {}
  constexpr explicit LargeHeap(const Settings& settings) : threshold_(settings.threshold), settings_(settings) {}
  LargeHeap(const LargeHeap&) = delete;
  LargeHeap& operator=(const LargeHeap&) = delete;

  /// Whether a request of `size` bytes is large, so that allocate() serves it.
  [[nodiscard]] bool is_large(std::size_t size) { return may_be_large(size) && is_large_unless_unread(size); }

  /// A quick check that may replace is_large(). Also returns true as long as the settings have not been read.
  [[nodiscard]] bool may_be_large(std::size_t size) const { return size > threshold_.load(std::memory_order_acquire); }

  /// Whether a request is large because of its size or its alignment (bytes).
  [[nodiscard]] bool is_large(std::size_t size, std::size_t alignment) {
    return is_large(size) || (alignment > kLeastPage && is_large_by_alignment(alignment));
  }

  /// Returns a block of at least `size` bytes at a multiple of `alignment` (a power of two; at least a page), or
  /// nullptr with errno ENOMEM. Call is_large() first. `growing` means that the caller is realloc, which will probably
  /// request more later (Policy::foresees_growth).
  void* allocate(std::size_t size, std::size_t alignment, Contents contents, bool growing = false);

  /// Whether the C library has served large requests. It serves those of a signal handler that interrupts code of the
  /// large heap.
  [[nodiscard]] bool lent() const { return lent_.load(std::memory_order_relaxed); }

  /// Returns the size in bytes of the block that starts at `pointer`: whole granules, possibly more than requested if
  /// the block came from the cache. Returns 0 if `pointer` is not one of our blocks. Stops the process if the block has
  /// been freed.
  [[nodiscard]] std::size_t usable_size(const void* pointer);

  /// Returns usable_size(), and from now on lets the program use all of these bytes.
  [[nodiscard]] std::size_t use_all(const void* pointer);

  /// Returns the number of bytes of one of our blocks that realloc must keep.
  [[nodiscard]] std::size_t asked_size(const void* pointer);

  /// Frees the block that starts at `pointer`: the block goes to the cache or back to the system. Returns false if
  /// `pointer` is not one of our blocks. Preserves errno. Stops the process with a message that names the pointer if
  /// the block is already in the cache.
  bool deallocate(void* pointer);

  /// Resizes one of our blocks in place, from `old_size` = usable_size(pointer) bytes to `size` > 0 bytes. If the block
  /// must move, changes nothing and returns false. The end that is cut off may go to the cache.
  bool resize_in_place(void* pointer, std::size_t old_size, std::size_t size);

  /// Extends a block to `size` > `old_size` bytes at another address, by moving its pages. Changes nothing and returns
  /// nullptr if the policy does not move pages, if a cached block makes copying cheaper, or if the kernel refuses. The
  /// caller must then copy the bytes.
  void* move_grown(void* pointer, std::size_t old_size, std::size_t size);

  /// The policy in use.
  [[nodiscard]] const Policy& policy() const { return *settings_.policy; }

  void statistics(struct largecache_statistics& out);

  /// Returns to the kernel the blocks that have been cached for longer than the settings allow; with `all`, all blocks.
  /// Returns false if no block is left. The periodic caller may then stop, and a later free calls DecayStarter again.
  /// With `stay`, always returns true.
  bool decay(bool all, bool stay = false);

  // Must be called before and after fork(). As in libmalloc, neither call changes the cache.
  void prepare_fork() { lock_.prepare_fork(); }
  void parent_after_fork();
  void child_after_fork();

 private:
  /// Blocks that have left the cache but are still mapped.
  struct Evicted {
    struct Range {
      std::uintptr_t address;
      std::size_t size;
    };
    std::array<Range, Ring::kMaxEntries + 1> blocks;  // not initialized, because every call to free makes an array
    std::size_t count = 0;

    void add(const Block& block) { blocks[count++] = {block.address, block.size}; }
  };

  /// A free that a signal handler requested, on a page of its own.
  struct PutOff {
    void* pointer;
    PutOff* next;
  };
  /// Performs the deferred frees at the end of a call that takes the lock.
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

  /// The program's request.
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
  // These functions take lock_ themselves.
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
  // These functions require that lock_ is held.
  struct Choice {
    std::size_t position;
    bool counts;  // whether to count the block's populated pages before taking it
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
  // A copy of settings_.threshold that is read without the lock; 0 until the settings have been read completely.
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
  std::size_t held_bytes_ = 0;  // bytes of the blocks in the ring that count toward the limit (held())
  bool decaying_ = false;       // whether something calls decay() periodically
  struct largecache_statistics statistics_ = {};
};

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_LARGE_H_
