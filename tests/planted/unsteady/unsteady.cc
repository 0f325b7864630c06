// Allocators that act by chance, by load or by thread timing, so that two runs may differ. A row of CMakeLists.txt
// states for each allocator what it does (WHAT) and in which case (WHEN). None of the allocators breaks a promise of
// calloc. With UNSTEADY_REGRESSED=free, every free also writes zeros over the block. With UNSTEADY_REGRESSED=beyond,
// every calloc zeroes a quarter more than requested. Both regressions exceed everything that the allocator does by
// chance.
#include <sched.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <ctime>

#include "../core.h"

namespace {

enum class When {
  kPid,
  kProcess,
  kSeldomProcess,
  kStartTime,
  kCounter,
  kAuxv,
  kCall,
  kSeldomCall,
  kOneInSeven,
  kOneInSixtyFour,
  kCpu,
  kSwitches,
  kLoad,
  kSlowYield,
  kTrylock,
  kSize
};
enum class What { kZeroes, kPurges, kZeroesSome, kMaps, kPurgesOften, kPurgesFrom1MiB, kMovesThreshold, kPurgesLater };

constexpr When kWhen = When::WHEN;
constexpr What kWhat = What::WHAT;
constexpr std::size_t kMiB = std::size_t{1} << 20;

std::uint64_t state = 0;              ///< state of the random generator
std::uint64_t process = 0;            ///< a number drawn once per process
std::size_t first_zeroed = SIZE_MAX;  ///< the threshold
std::atomic<unsigned> calls = 0;
bool regressed_in_free = false;
bool regressed_beyond = false;
pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;

/// Returns a number of the generator xorshift64, which is random enough here and calls nothing in the C library.
std::uint64_t drawn() {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

/// Purges kept blocks at random times while the program runs.
void* purge_now_and_then(void* /*unused*/) {
  for (;;) {
    ::usleep(1 + static_cast<useconds_t>(drawn() % 3000));
    ::pthread_mutex_lock(&planted::lock);
    if (planted::kept != nullptr) ::madvise(planted::kept, planted::header_of(planted::kept).capacity, MADV_DONTNEED);
    ::pthread_mutex_unlock(&planted::lock);
  }
}

/// Holds a lock half of the time.
void* contend(void* /*unused*/) {
  for (;;) {
    ::pthread_mutex_lock(&contended);
    for (int i = 0; i < 2000; ++i) instructions::pause();
    ::pthread_mutex_unlock(&contended);
    for (int i = 0; i < 2000; ++i) instructions::pause();
  }
}

[[gnu::constructor]] void begin() {
  if (::getrandom(&state, sizeof state, 0) != sizeof state) state = instructions::ticks() | 1;
  process = drawn();
  const char* regressed = std::getenv("UNSTEADY_REGRESSED");
  regressed_in_free = regressed != nullptr && std::strcmp(regressed, "free") == 0;
  regressed_beyond = regressed != nullptr && std::strcmp(regressed, "beyond") == 0;
  if (kWhen == When::kStartTime) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    process = static_cast<std::uint64_t>(now.tv_nsec) / 1000;
  }
  if (kWhat == What::kMovesThreshold) first_zeroed = kMiB + process % 128 * planted::page_bytes();
  if (kWhat == What::kPurgesFrom1MiB) first_zeroed = kMiB;
  pthread_t thread{};
  if (kWhat == What::kPurgesLater) ::pthread_create(&thread, nullptr, purge_now_and_then, nullptr);
  if (kWhen == When::kTrylock) ::pthread_create(&thread, nullptr, contend, nullptr);
}

bool is_switched_away() {
  static long before = 0;
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  const bool switched = usage.ru_nivcsw != before;
  before = usage.ru_nivcsw;
  return switched;
}

/// Whether another thread ran during a yield.
bool is_slow_to_yield() {
  const std::uint64_t before = instructions::ticks();
  ::sched_yield();
  return instructions::ticks() - before > instructions::ticks_in(7000);
}

bool is_taken() {
  if (::pthread_mutex_trylock(&contended) != 0) return true;
  ::pthread_mutex_unlock(&contended);
  return false;
}

bool is_loaded() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 && load > 1;
}

bool acts(std::size_t bytes) {
  switch (kWhen) {
    case When::kPid:
      return ::getpid() % 2 == 0;
    case When::kProcess:
      return process % 2 == 0;
    case When::kSeldomProcess:
      return process % 10 == 0;
    case When::kStartTime:
      return process % 2 == 0;
    case When::kCounter:
      return instructions::ticks() / 1024 % 2 == 0;
    case When::kAuxv:
      return *reinterpret_cast<const unsigned char*>(::getauxval(AT_RANDOM)) % 2 == 0;
    case When::kCall:
      return drawn() % 2 == 0;
    case When::kSeldomCall:
      return drawn() % 10 == 0;
    case When::kOneInSeven:
      return (process + ++calls) % 7 == 0;
    case When::kOneInSixtyFour:
      return (process + ++calls) % 64 == 0;
    case When::kCpu:
      return ::sched_getcpu() == 0;
    case When::kSwitches:
      return is_switched_away();
    case When::kLoad:
      return is_loaded();
    case When::kSlowYield:
      return is_slow_to_yield();
    case When::kTrylock:
      return is_taken();
    case When::kSize:
      return (bytes / planted::page_bytes() * 2654435761U ^ process) % 4096 < 2048;
  }
  __builtin_unreachable();
}

void purge(void* block) { ::madvise(block, planted::header_of(block).capacity, MADV_DONTNEED); }

/// Returns a block of zeros: the kept block, cleared, or a fresh mapping.
void* zero_block(std::size_t bytes) {
  void* block = planted::take_kept(bytes);
  if (block == nullptr) return planted::map_block(bytes);
  if (kWhat == What::kPurgesLater) purge(block);
  return kWhat == What::kPurgesLater ? block : memset(block, 0, bytes);
}

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  const std::size_t beyond = regressed_beyond ? bytes / 4 : 0;
  const bool fresh = kWhat != What::kMaps && kWhat != What::kPurgesLater;
  void* block = fresh ? map_block(bytes + beyond) : zero_block(bytes + beyond);
  if (block == nullptr) return nullptr;
  if (beyond != 0) {
    memset(block, 0, bytes + beyond);
  } else if (kWhat == What::kZeroes && acts(bytes)) {  // NOLINT(bugprone-branch-clone): kinds of one order
    memset(block, 0, bytes);
  } else if (kWhat == What::kZeroesSome && acts(bytes)) {
    memset(block, 0, drawn() % (bytes / page_bytes()) * page_bytes());
  } else if (bytes >= first_zeroed && bytes < 4 * kMiB) {
    memset(block, 0, bytes);
  }
  return block;
}

void planted::large_free(void* block) {
  const std::size_t bytes = header_of(block).asked;
  if (regressed_in_free) memset(block, 0, bytes);
  const bool purges = kWhat == What::kPurges || (kWhat == What::kPurgesFrom1MiB && bytes >= kMiB);
  if (purges && acts(bytes)) purge(block);
  for (std::uint64_t i = 0; kWhat == What::kPurgesOften && i < drawn() % 12; ++i) purge(block);
  if (kWhat == What::kPurgesLater || (kWhat == What::kMaps && acts(bytes))) return keep_block(block);
  unmap_block(block);
}
