#include "meter/zeroing.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "meter/contents.h"
#include "meter/fork_writes.h"
#include "meter/meter.h"
#include "meter/sample_block.h"
#include "meter/zeroing_hook.h"
#include "os/clock.h"
#include "os/faults.h"
#include "os/pagemap.h"
#include "os/syscall_counter.h"

namespace zerotax {
namespace {

constexpr int kRounds = 3;
/// Maximum plausible time of zeroing, as a multiple of the time of the slowest stores. A larger difference between
/// calloc and malloc has another cause.
constexpr std::int64_t kSlowest = 4;
constexpr unsigned char kMark = 0xa5;

class CountsBytes final : public ZeroingHook::Listener {
 public:
  void before_zeroing(void* /*target*/, std::size_t bytes) override { sum += bytes; }
  void after_zeroing(void* /*target*/, std::size_t /*bytes*/) override {}
  std::size_t sum = 0;
};

/// Number of system calls of each kind within a call to the allocator.
struct Calls {
  std::uint32_t counts[SyscallCounter::kNumbers] = {};
  bool complete = true;

  void read() {
    for (std::size_t i = 0; i < SyscallCounter::kNumbers; ++i) counts[i] = SyscallCounter::calls(i);
    complete = !SyscallCounter::incomplete();
  }
};

/// Returns the first kind of system call whose numbers differ, or kNumbers if none does.
std::size_t first_difference(const Calls& one, const Calls& other) {
  std::size_t number = 0;
  while (number < SyscallCounter::kNumbers && one.counts[number] == other.counts[number]) ++number;
  return number;
}

void not_comparable(SampleBlock& samples, const char* why) {
  std::snprintf(&samples.na_zero_ns[0], sizeof samples.na_zero_ns,
                "malloc and calloc may make different system calls: %s", why);
}

/// Makes `call`, and stores its system calls and its result. Returns nullptr, or why the system calls are unknown.
template <typename Call>
const char* follow(Call call, Calls& calls, void*& block) {
  const char* before = SyscallCounter::begin();
  block = call();
  escape(block);
  if (before != nullptr) return before;
  const char* after = SyscallCounter::end();
  calls.read();
  return after;
}

void compare_system_calls(SampleBlock& samples) {
  // All timing is finished by now. A permanent filter slows down all later system calls.
  if (const char* refusal = SyscallCounter::install()) return not_comparable(samples, refusal);
  BareMeter meter;
  const std::size_t bytes = samples.request.size_bytes;
  int apart = 0;
  for (int round = 0; round < kRounds; ++round) {
    Calls in_malloc;
    Calls in_calloc;
    void* block = nullptr;
    const char* why = follow([&] { return std::malloc(bytes); }, in_malloc, block);
    std::free(block);
    if (why == nullptr) {
      why = follow([&] { return std::calloc(bytes, 1); }, in_calloc, block);
      if (block == nullptr) return;
      meter.touch(block, bytes, samples.request.touch);
      std::free(block);
    }
    if (why != nullptr) return not_comparable(samples, why);
    if (!in_malloc.complete || !in_calloc.complete) {
      return say(samples.na_zero_ns, "malloc or calloc starts a thread or process, whose system calls are unknown");
    }
    const std::size_t number = first_difference(in_malloc, in_calloc);
    // One call with a difference is tolerated, because the allocator may make a system call only occasionally.
    if (number == SyscallCounter::kNumbers || ++apart < 2) continue;
    const char* name = syscall_name(number);
    std::snprintf(&samples.na_zero_ns[0], sizeof samples.na_zero_ns,
                  "malloc and calloc make different system calls (%s: %u and %u), so the difference in time is not "
                  "zeroing",
                  name != nullptr ? name : "unnamed", in_malloc.counts[number], in_calloc.counts[number]);
    return;
  }
}

/// Whether malloc returns memory that malloc or free has cleared or written to.
bool malloc_writes(std::size_t bytes) {
  CountsBytes counter;
  ZeroingHook::listen(&counter);
  void* first = std::malloc(bytes);
  ZeroingHook::listen(nullptr);
  escape(first);
  if (first == nullptr) return false;
  const AddressRange before = range_of(first, bytes);
  const Pagemap pagemap(Pagemap::Sharing::kNever);
  RangeList marked;
  pagemap.populated(before.pages(), marked);
  for (const AddressRange& pages : marked) {
    for (std::uintptr_t page = pages.begin; page < pages.end; page += page_bytes()) {
      *byte_in_page(before, (page - page_floor(before.begin)) / page_bytes()) = kMark;
    }
  }
  std::free(first);

  const std::int64_t faults = thread_minor_faults();
  ZeroingHook::listen(&counter);
  void* second = std::malloc(bytes);
  ZeroingHook::listen(nullptr);
  const std::int64_t faults_in_malloc = thread_minor_faults() - faults;
  escape(second);
  if (second == nullptr) return false;
  const AddressRange after = range_of(second, bytes);
  RangeList populated;
  pagemap.populated(after.pages(), populated);
  std::size_t kept = 0;
  std::size_t cleared = 0;
  for (const AddressRange& pages : populated) {
    for (std::uintptr_t page = pages.begin; page < pages.end; page += page_bytes()) {
      if (!marked.contains(page)) continue;
      const auto at = page < before.begin ? before.begin : page;
      if (at < after.begin || at >= after.end) continue;
      const unsigned char found = static_cast<const volatile unsigned char*>(second)[at - after.begin];
      ++(found == 0 ? cleared : kept);
    }
  }
  std::free(second);
  const std::size_t pages = after.pages().bytes() / page_bytes();
  const bool by_memset = counter.sum >= (bytes < page_bytes() ? (bytes + 1) / 2 : page_bytes());
  // The threshold is half of the pages, because a free list may be stored in some of the pages.
  return by_memset || cleared > kept || (pages > 2 && faults_in_malloc > static_cast<std::int64_t>(pages / 2));
}

/// Returns how many nanoseconds it takes to store zeros byte by byte into an unpopulated page.
std::int64_t time_fresh_page() {
  constexpr std::size_t kPages = 64;
  const std::size_t size = kPages * page_bytes();
  void* fresh = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) return INT32_MAX;
  auto* bytes = static_cast<volatile unsigned char*>(fresh);
  const std::int64_t start = monotonic_ns();
  for (std::size_t i = 0; i < size; ++i) bytes[i] = 0;
  const std::int64_t took = monotonic_ns() - start;
  ::munmap(fresh, size);
  return took / static_cast<std::int64_t>(kPages) + 1;
}

/// Returns the shortest of three times. A time that load on the machine lengthens would hide other work of calloc.
std::int64_t time_slow_page() { return std::min({time_fresh_page(), time_fresh_page(), time_fresh_page()}); }

/// Returns the median of calloc minus malloc in the second half of the operations.
std::int64_t median_difference(const SampleBlock& samples) {
  // The array is fixed, because nothing here may allocate.
  constexpr std::size_t kMost = 512;
  std::int64_t values[kMost];
  std::size_t count = 0;
  for (std::size_t i = samples.ops_done / 2; i < samples.ops_done && count < kMost; ++i) {
    const OpSample& op = (&samples.ops[0])[i];
    if (op.calloc_ns != kNotMeasured && op.malloc_ns != kNotMeasured) values[count++] = op.calloc_ns - op.malloc_ns;
  }
  if (count == 0) return 0;
  std::nth_element(&values[0], &values[count / 2], &values[count]);
  return values[count / 2];
}

/// Returns the number of a block's pages that are populated and all zero when calloc returns. calloc may have cleared
/// these pages.
std::size_t zero_pages_of_calloc(const Request& request) {
  BareMeter meter;
  void* block = std::calloc(request.size_bytes, 1);
  escape(block);
  if (block == nullptr) return 0;
  const Pagemap pagemap(Pagemap::Sharing::kNever);
  const AddressRange range = range_of(block, request.size_bytes);
  RangeList populated;
  pagemap.populated(range.pages(), populated);
  std::size_t pages = 0;
  for (const AddressRange& part : populated) pages += part.bytes() / page_bytes();
  pages -= dirty_bytes(range, populated) / page_bytes();
  meter.touch(block, request.size_bytes, request.touch);
  std::free(block);
  return pages;
}

/// Looks for reasons why calloc minus malloc is not the time of zeroing, and writes them to SampleBlock::na_zero_ns.
/// The reasons are: malloc zeroes too, malloc makes other system calls than calloc, or the difference exceeds the time
/// of storing zeros. Makes calls of its own, of the requested size, so this function must run after all timed calls.
void examine_difference(SampleBlock& samples) {
  const std::int64_t difference = median_difference(samples);
  // One more page is allowed, because the block may not begin at a page, and calloc may also clear the block's header.
  const auto pages = static_cast<std::int64_t>(zero_pages_of_calloc(samples.request) + 1);
  if (difference > kSlowest * pages * time_slow_page()) {
    std::snprintf(&samples.na_zero_ns[0], sizeof samples.na_zero_ns,
                  "calloc takes %lld µs longer than malloc, more than clearing %lld pages could take, so calloc does "
                  "other work",
                  static_cast<long long>(difference / 1000), static_cast<long long>(pages));
    return compare_system_calls(samples);
  }
  if (malloc_writes(samples.request.size_bytes)) {
    return say(samples.na_zero_ns,
               "malloc returns memory that was cleared or written to, so no comparison is possible");
  }
  compare_system_calls(samples);
}

/// Maximum number of calls to memset in a calloc that are still timed. Timing more calls would take a large part of the
/// calloc's time.
constexpr std::int64_t kFewStores = 16;

/// Returns the median of an odd number of values.
template <std::size_t N>
double median(double (&values)[N]) {
  std::nth_element(&values[0], &values[N / 2], &values[N]);
  return values[N / 2];
}

}  // namespace

ZeroingClock::ZeroingClock(SampleBlock& samples) {
  samples.got_slots = static_cast<std::uint32_t>(ZeroingHook::install());
  calibrate();
}

void ZeroingClock::calibrate() {
  constexpr int kRounds = 101;
  constexpr int kPairs = 16;
  double windows[kRounds];
  double whole[kRounds];
  // Hides the type from the compiler, so that the calls below are virtual, like the hook's calls.
  auto* volatile hidden = static_cast<ZeroingHook::Listener*>(this);
  for (int round = 0; round < kRounds; ++round) {
    sum_ = 0;
    const std::int64_t start = monotonic_ns();
    for (int pair = 0; pair < kPairs; ++pair) {
      ZeroingHook::Listener* listener = hidden;
      listener->before_zeroing(nullptr, 0);
      listener->after_zeroing(nullptr, 0);
    }
    const std::int64_t took = monotonic_ns() - start;
    windows[round] = static_cast<double>(sum_) / kPairs;
    // Subtracts the time of the clock reading that ends the measurement.
    whole[round] = (static_cast<double>(took) - windows[round]) / kPairs;
  }
  window_ns_ = median(windows);
  listening_ns_ = std::max(median(whole), window_ns_);
}

void ZeroingClock::start() {
  sum_ = 0;
  stores_ = 0;
  ZeroingHook::listen(this);
}

MemsetTime ZeroingClock::stop() {
  ZeroingHook::listen(nullptr);
  const auto stores = static_cast<double>(stores_);
  const std::int64_t clock = std::min(static_cast<std::int64_t>(std::ceil(stores * window_ns_)), sum_);
  return {sum_ - clock, clock, static_cast<std::int64_t>(stores * listening_ns_), stores_};
}

void ZeroingClock::before_zeroing(void* /*target*/, std::size_t /*bytes*/) { started_ = monotonic_ns(); }

void ZeroingClock::after_zeroing(void* /*target*/, std::size_t /*bytes*/) {
  sum_ += monotonic_ns() - started_;
  ++stores_;
}

void ZeroingSum::add(const MemsetTime& found, std::int64_t call_ns) {
  zero_ns_ += found.zero_ns;
  clock_ns_ += found.clock_ns;
  add_to(call_ns_, std::max(call_ns - found.listening_ns, found.zero_ns));
}

void ZeroingSum::write(std::int64_t& call_ns, std::int64_t& zero_ns, char (&why)[kReasonBytes]) const {
  if (call_ns_ == kNotMeasured) return;
  call_ns = call_ns_;
  if (clock_ns_ > zero_ns_) {
    say(why, "the calls to memset are too short to time, because most of the measured time is the clock's own time");
    return;
  }
  zero_ns = zero_ns_;
}

void ZeroingMeter::begin_operation(OpSample& op) {
  op_ = &op;
  in_calloc_.clear();
  in_free_.clear();
}

void* ZeroingMeter::allocate(std::size_t bytes) {
  clock_.start();
  const std::int64_t before = monotonic_ns();
  void* block = call_allocator(bytes);
  const std::int64_t after = monotonic_ns();
  in_calloc_.add(clock_.stop(), after - before);
  escape(block);
  return block;
}

void ZeroingMeter::release(void* block) {
  clock_.start();
  const std::int64_t before = monotonic_ns();
  std::free(block);
  const std::int64_t after = monotonic_ns();
  in_free_.add(clock_.stop(), after - before);
}

void ZeroingMeter::end_operation() {
  in_calloc_.write(op_->calloc_ns, op_->zero_ns, samples_.na_zero_ns);
  in_free_.write(op_->free_ns, op_->zero_in_free_ns, samples_.na_zero_in_free_ns);
}

void DifferentialMeter::begin_operation(OpSample& op) {
  op_ = &op;
  in_calloc_.clear();
}

void* DifferentialMeter::allocate(std::size_t bytes) {
  const std::int64_t before_malloc = monotonic_ns();
  void* plain = std::malloc(bytes);
  const std::int64_t after_malloc = monotonic_ns();
  escape(plain);
  std::free(plain);
  if (listening_) clock_.start();
  const std::int64_t before_calloc = monotonic_ns();
  void* block = std::calloc(bytes, 1);
  const std::int64_t after_calloc = monotonic_ns();
  escape(block);
  const MemsetTime found = listening_ ? clock_.stop() : MemsetTime{};
  in_calloc_.add(found, after_calloc - before_calloc);
  add_to(op_->malloc_ns, after_malloc - before_malloc);
  if (found.stores > kFewStores) listening_ = false;
  return block;
}

void DifferentialMeter::release(void* block) { std::free(block); }

void DifferentialMeter::end_operation() {
  // The reason in the sample block concerns calloc minus malloc, so the reason of the clock around memset is discarded.
  char unused[kReasonBytes];
  in_calloc_.write(op_->calloc_ns, op_->zero_ns, unused);
  if (!listening_) op_->zero_ns = kNotMeasured;
}

void DifferentialMeter::finish() { examine_difference(samples_); }

}  // namespace zerotax
