// Does the program read the pages that calloc gave it before it writes to them? A fresh page that is read first takes
// two faults: the first maps the shared zero page, the second copies it, and interrupts every other processor that runs
// the program, lest it continue to read the zero page. The thread's count of faults shows whether both came, and the
// page table shows whether it did write. If so, populating fresh blocks at once (madvise(2), MADV_POPULATE_WRITE) costs
// less. Pure arithmetic: no lock, no system call.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_READ_HABIT_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_READ_HABIT_H_

#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace zerotax::largecache {

/// The pages of a block when it is freed.
struct PagesUsed {
  std::uint64_t all = 0;      // pages that it has
  std::uint64_t written = 0;  // populated
  std::uint64_t read = 0;     // the shared zero page: no more than read
  std::uint64_t faults = 0;   // minor ones that the thread ever took, whatever for
};

/// The owner's lock is held, but for watched(). It watches one block at a time: one that the same thread frees, and
/// gets no other large block in between, whose faults would be among those that are counted.
class ReadHabit {
 public:
  /// Longer blocks are neither watched nor populated, bytes. glibc never clears them, which populates, either: it maps
  /// them (malloc.c, DEFAULT_MMAP_THRESHOLD_MAX). So a program takes no more memory than under glibc.
  static constexpr std::size_t kLongest = std::size_t{32} << 20;

  enum class What { kNothing, kWatch, kPopulate };

  /// What to do with a block of this many bytes, not all of them populated, that calloc is about to hand out.
  What next(std::size_t bytes);

  /// Without the lock: is it certain that next() says kNothing? Counts as one block.
  bool is_idle() {
    const std::uint16_t left = __atomic_load_n(&until_next_, __ATOMIC_RELAXED);
    if (left == 0 || populates()) return false;
    __atomic_store_n(&until_next_, static_cast<std::uint16_t>(left - 1),
                     __ATOMIC_RELAXED);  // one more or less is the same
    return true;
  }

  /// The calling thread has got the block, with so many of its pages populated, and has taken so many faults up to now.
  void watch(std::uintptr_t address, std::size_t bytes, std::uint64_t populated, std::uint64_t faults);

  /// Where the block that is watched starts; 0 if there is none. Without the lock, a guess.
  [[nodiscard]] std::uintptr_t watched() const { return __atomic_load_n(&address_, __ATOMIC_RELAXED); }
  [[nodiscard]] std::size_t watched_bytes() const { return bytes_; }

  /// The calling thread gets, or resizes, a large block.
  void disturb() {
    if (address_ != 0 && pthread_equal(thread_, pthread_self()) != 0) disturbed_ = true;
  }

  /// The calling thread is about to free the block that is watched.
  void end_watch(const PagesUsed& used);

  /// The block that is watched, if any, will show nothing: a fork shares its pages.
  void forget() { __atomic_store_n(&address_, 0, __ATOMIC_RELAXED); }

  /// Memory is short: nothing is populated until the habit has been learnt again, after a while.
  void unlearn();

  /// Are blocks populated? Without the lock, a guess.
  [[nodiscard]] bool populates() const { return __atomic_load_n(&populates_, __ATOMIC_RELAXED); }

 private:
  enum class Answer : std::uint8_t { kNone, kNo, kYes };
  [[nodiscard]] static Answer answer_of(const PagesUsed& used);
  void take_in(Answer answer, const PagesUsed& used);

  // Of what is watched.
  std::uintptr_t address_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t populated_ = 0;
  std::uint64_t faults_ = 0;
  pthread_t thread_ = {};
  bool disturbed_ = false;
  std::uint8_t waited_ = 0;  // blocks since

  // Of what was learnt.
  pthread_t first_ = {};  // that got a block
  bool several_ = false;  // others did, too
  bool populates_ = false;
  std::uint8_t yes_ = 0;          // in a row, up to kEnough
  std::uint8_t asked_ = 0;        // since the answer changed, up to kMostAsked
  std::uint16_t until_next_ = 0;  // blocks before the next is watched
  std::uint64_t written_ = 0;     // pages of the blocks that were read first, the last ones counting most
  std::uint64_t all_ = 0;
};

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_READ_HABIT_H_
