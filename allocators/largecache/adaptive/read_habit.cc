#include "largecache/adaptive/read_habit.h"

namespace zerotax::largecache {
namespace {

// Smallest number of written pages that counts, because faults may have other causes.
constexpr std::uint64_t kLeastWritten = 16;
// Tolerance: the number of double faults may differ from the number of written pages by 1 / kClose of that number.
// Faults of other causes rarely exceed this tolerance.
constexpr std::uint64_t kClose = 16;
// kFirstPause: number of blocks that are populated between the first yes and the next watched block. kEnough: number of
// answers "yes" in a row after which the longest pause applies.
constexpr unsigned kFirstPause = 8;
constexpr unsigned kEnough = 3;
// Number of answers after which blocks are watched less and less often: every 2nd, 4th, ... 256th block.
constexpr unsigned kOften = 4;
constexpr unsigned kMostAsked = kOften + 8;
constexpr unsigned kMostPause = (1U << (kMostAsked - kOften)) - 1;
// Number of further blocks after which the watch of a block ends, because its thread keeps it or has handed it on.
constexpr unsigned kPatience = 4;
// Number of pages that can be populated together in the time of the two faults of one page. The number is larger if
// these faults interrupt other processors.
constexpr std::uint64_t kCheaper = 4;
constexpr std::uint64_t kCheaperBesideOthers = 8;
// Each new block reduces the sums of earlier blocks by 1 / kMemory.
constexpr std::uint64_t kMemory = 8;

}  // namespace

ReadHabit::What ReadHabit::next(std::size_t bytes) {
  const pthread_t self = pthread_self();
  if (first_ == pthread_t{}) first_ = self;
  several_ = several_ || pthread_equal(first_, self) == 0;
  if (bytes > kLongest) return What::kNothing;
  const What otherwise = populates_ ? What::kPopulate : What::kNothing;
  if (address_ != 0) {
    if (++waited_ < kPatience) return otherwise;
    take_in(Answer::kNone, {});
    forget();
  }
  // Other threads change the count in is_idle() without holding the lock.
  const std::uint16_t left = __atomic_load_n(&until_next_, __ATOMIC_RELAXED);
  if (left > 0) {
    __atomic_store_n(&until_next_, static_cast<std::uint16_t>(left - 1), __ATOMIC_RELAXED);
    return otherwise;
  }
  return What::kWatch;
}

void ReadHabit::watch(std::uintptr_t address, std::size_t bytes, std::uint64_t populated, std::uint64_t faults) {
  if (address_ != 0) return;  // another thread has started to watch
  populated_ = populated;
  bytes_ = bytes;
  faults_ = faults;
  thread_ = pthread_self();
  disturbed_ = false;
  waited_ = 0;
  __atomic_store_n(&address_, address, __ATOMIC_RELAXED);
}

void ReadHabit::end_watch(const PagesUsed& used) {
  forget();
  const bool counts = !disturbed_ && pthread_equal(thread_, pthread_self()) != 0 && used.faults >= faults_ &&
                      used.written >= populated_;
  if (!counts) return take_in(Answer::kNone, {});
  // Counts only pages that were not yet populated when the program got the block.
  const PagesUsed since{used.all - populated_, used.written - populated_, used.read, used.faults - faults_};
  take_in(answer_of(since), since);
}

void ReadHabit::unlearn() {
  forget();
  yes_ = 0;
  written_ = all_ = 0;
  __atomic_store_n(&until_next_, static_cast<std::uint16_t>(kMostPause), __ATOMIC_RELAXED);
  __atomic_store_n(&populates_, false, __ATOMIC_RELAXED);
}

ReadHabit::Answer ReadHabit::answer_of(const PagesUsed& used) {
  if (used.written < kLeastWritten) return Answer::kNone;
  const std::uint64_t once = used.written + used.read;
  const std::uint64_t twice = used.faults > once ? used.faults - once : 0;
  const std::uint64_t room = used.written / kClose;
  const bool yes = twice + room >= used.written && twice <= used.written + room;
  return yes ? Answer::kYes : Answer::kNo;
}

void ReadHabit::take_in(Answer answer, const PagesUsed& used) {
  const bool changed = answer == Answer::kYes ? yes_ == 0 : answer == Answer::kNo && yes_ > 0;
  if (changed) asked_ = 0;
  // Answer::kNone does not change the habit, but blocks are watched less often.
  if (asked_ < kMostAsked) ++asked_;
  if (answer == Answer::kYes) {
    if (yes_ < kEnough) ++yes_;
    written_ += used.written - written_ / kMemory;
    all_ += used.all - all_ / kMemory;
  } else if (answer == Answer::kNo) {
    yes_ = 0;
    written_ = all_ = 0;
  }
  const bool pays = written_ * (several_ ? kCheaperBesideOthers : kCheaper) >= all_;
  const bool populates = yes_ > 0 && pays;
  unsigned pause = asked_ < kOften ? 0 : (1U << (asked_ - kOften)) - 1;
  // A watched block still takes both faults, so blocks are rarely watched once the habit is known.
  if (populates) pause = yes_ < kEnough ? kFirstPause : kMostPause;
  __atomic_store_n(&until_next_, static_cast<std::uint16_t>(pause), __ATOMIC_RELAXED);
  __atomic_store_n(&populates_, populates, __ATOMIC_RELAXED);
}

}  // namespace zerotax::largecache
