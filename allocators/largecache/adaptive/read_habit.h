// Learns whether the program reads pages from calloc before it writes to them. A fresh page that is read first takes
// two faults. The first fault maps the shared zero page. The second fault copies it, and interrupts every other
// processor that runs the program, because these processors must stop reading the zero page.
//
// The thread's count of faults shows whether both faults occurred, and the page table shows which pages were written.
// If both faults occur, populating fresh blocks at once (madvise(2), MADV_POPULATE_WRITE) costs less. Pure arithmetic:
// no lock, no system call.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_READ_HABIT_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_READ_HABIT_H_

#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace zerotax::largecache {

/// The pages of a block when it is freed.
struct PagesUsed {
  std::uint64_t all = 0;      // pages of the block
  std::uint64_t written = 0;  // populated pages
  std::uint64_t read = 0;     // pages that were only read: the shared zero page
  std::uint64_t faults = 0;   // all minor faults of the thread since it began
};

/// Watches one block at a time. The block counts only if the same thread frees it and gets no other large block in
/// between: faults of another block would be counted, too. Callers hold the owner's lock, except for watched().
class ReadHabit {
 public:
  /// Largest block, in bytes, that is watched or populated. glibc maps longer blocks (malloc.c,
  /// DEFAULT_MMAP_THRESHOLD_MAX), and never populates them by clearing. With this limit, a program takes no more memory
  /// than under glibc.
  static constexpr std::size_t kLongest = std::size_t{32} << 20;

  enum class What { kNothing, kWatch, kPopulate };

  /// Decides what to do with a block of this many bytes that calloc is about to return. Not all of its pages are
  /// populated.
  What next(std::size_t bytes);

  /// Whether next() would certainly return kNothing. Needs no lock. A call to this function counts as one block.
  bool is_idle() {
    const std::uint16_t left = __atomic_load_n(&until_next_, __ATOMIC_RELAXED);
    if (left == 0 || populates()) return false;
    __atomic_store_n(&until_next_, static_cast<std::uint16_t>(left - 1),
                     __ATOMIC_RELAXED);  // a lost decrement does no harm
    return true;
  }

  /// Starts to watch a block that the calling thread has got. `populated` pages are already populated, and `faults` is
  /// the thread's count of faults so far.
  void watch(std::uintptr_t address, std::size_t bytes, std::uint64_t populated, std::uint64_t faults);

  /// Returns the start of the watched block; 0 if no block is watched. Without the lock, the result may be outdated.
  [[nodiscard]] std::uintptr_t watched() const { return __atomic_load_n(&address_, __ATOMIC_RELAXED); }
  [[nodiscard]] std::size_t watched_bytes() const { return bytes_; }

  /// Records that the calling thread gets or resizes a large block.
  void disturb() {
    if (address_ != 0 && pthread_equal(thread_, pthread_self()) != 0) disturbed_ = true;
  }

  /// Ends the watch of a block that the calling thread is about to free.
  void end_watch(const PagesUsed& used);

  /// Ends the watch without an answer, for example because a fork shares the block's pages.
  void forget() { __atomic_store_n(&address_, 0, __ATOMIC_RELAXED); }

  /// Forgets the habit if memory is short, so that nothing is populated until it is learned again.
  void unlearn();

  /// Whether fresh blocks are populated at once. Without the lock, the result may be outdated.
  [[nodiscard]] bool populates() const { return __atomic_load_n(&populates_, __ATOMIC_RELAXED); }

 private:
  enum class Answer : std::uint8_t { kNone, kNo, kYes };
  [[nodiscard]] static Answer answer_of(const PagesUsed& used);
  void take_in(Answer answer, const PagesUsed& used);

  // The watched block.
  std::uintptr_t address_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t populated_ = 0;
  std::uint64_t faults_ = 0;
  pthread_t thread_ = {};
  bool disturbed_ = false;
  std::uint8_t waited_ = 0;  // number of blocks since the watch began

  // The learned habit.
  pthread_t first_ = {};  // the first thread that got a block
  bool several_ = false;  // whether other threads got blocks too
  bool populates_ = false;
  std::uint8_t yes_ = 0;          // number of answers "yes" in a row, up to kEnough
  std::uint8_t asked_ = 0;        // number of answers since the last change, up to kMostAsked
  std::uint16_t until_next_ = 0;  // number of blocks before the next watch
  std::uint64_t written_ = 0;     // number of written pages in blocks that were read first; recent blocks have the most
                                  // weight
  std::uint64_t all_ = 0;
};

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_READ_HABIT_H_
