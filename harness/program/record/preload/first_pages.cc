#include "record/preload/first_pages.h"

#include "os/clock.h"
#include "os/faults.h"
#include "record/preload/examine.h"
#include "record/preload/process.h"
#include "record/preload/site.h"

namespace zerotax::record {
namespace {

constexpr std::uint32_t kFewest = 16;
constexpr std::uint32_t kMost = 1 << 16;
// The pause before a sample is 128 to 512 times as long as the previous sample took.
constexpr std::int64_t kDear = 128;
constexpr std::int64_t kCheap = 512;

std::int64_t faults_of_the_program() {
  const std::uint64_t own = process != nullptr ? process->holdings.own_faults.load() : 0;
  return thread_minor_faults() - static_cast<std::int64_t>(own);
}

/// Chooses the number of calls until the next sample, uniformly from 1 to 2 * look_every - 1.
void choose_next(ThreadState& thread) {
  thread.until_look = 1 + static_cast<std::uint32_t>(random_of(thread) % (2 * thread.look_every - 1));
}

std::uint64_t unpopulated_bytes(const void* block, std::size_t bytes) {
  const AddressRange pages = range_of(block, bytes).pages();
  std::uint64_t populated = 0;
  if (block == nullptr || !populated_bytes(reinterpret_cast<const void*>(pages.begin), pages.bytes(), populated))
    return 0;
  return pages.bytes() - populated;
}

}  // namespace

FirstPages::FirstPages(ThreadState& thread) : thread_(thread), faults_(faults_of_the_program()) {}

void FirstPages::note(SiteKind kind, const void* block, std::size_t bytes) const {
  const std::int64_t faults = faults_of_the_program() - faults_;
  const std::uint64_t taken = faults > 0 ? static_cast<std::uint64_t>(faults) : 0;
  const TimedOwnWork own;
  const std::int64_t began = monotonic_ns();
  const std::uint64_t weight = thread_.look_every;
  if (process != nullptr) {
    const std::uint64_t zeroed = taken * page_bytes() + unpopulated_bytes(block, bytes);
    if (zeroed != 0) note_estimate(kind, &Site::first_pages, weight * zeroed);
  }
  const std::int64_t ended = monotonic_ns();
  const std::int64_t took = ended - began;
  const std::int64_t since = began - thread_.looked_ns;
  if (since < kDear * took && thread_.look_every < kMost) {
    thread_.look_every *= 2;
  } else if (since > kCheap * took && thread_.look_every > kFewest) {
    thread_.look_every /= 2;
  }
  thread_.looked_ns = ended;
  choose_next(thread_);
}

void begin_looks(ThreadState& thread) {
  thread.look_every = kFewest;
  thread.looked_ns = monotonic_ns();
  choose_next(thread);
}

}  // namespace zerotax::record
