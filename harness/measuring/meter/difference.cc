#include "meter/difference.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "meter/contents.h"
#include "meter/fork_writes.h"
#include "meter/meter.h"
#include "meter/zeroing_hook.h"
#include "os/clock.h"
#include "os/faults.h"
#include "os/pagemap.h"
#include "os/syscall_counter.h"

namespace zerotax {
namespace {

constexpr int kRounds = 3;
/// A difference of more than this many times what the slowest stores would take is not zeroing.
constexpr std::int64_t kSlowest = 4;
constexpr unsigned char kMark = 0xa5;

class CountsBytes final : public ZeroingHook::Listener {
 public:
  void before_zeroing(void* /*target*/, std::size_t bytes) override { sum += bytes; }
  void after_zeroing(void* /*target*/, std::size_t /*bytes*/) override {}
  std::size_t sum = 0;
};

/// How many system calls of each kind a call made.
struct Calls {
  std::uint32_t counts[SyscallCounter::kNumbers] = {};
  bool complete = true;

  void read() {
    for (std::size_t i = 0; i < SyscallCounter::kNumbers; ++i) counts[i] = SyscallCounter::calls(i);
    complete = !SyscallCounter::incomplete();
  }
};

/// The first kind of which one made another number than the other, or kNumbers.
std::size_t first_difference(const Calls& one, const Calls& other) {
  std::size_t number = 0;
  while (number < SyscallCounter::kNumbers && one.counts[number] == other.counts[number]) ++number;
  return number;
}

void not_comparable(SampleBlock& samples, const char* why) {
  std::snprintf(&samples.na_zero_ns[0], sizeof samples.na_zero_ns,
                "malloc and calloc may make different system calls: %s", why);
}

/// The system calls of `call`, and what it returned; why they are not known, if they are not.
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
  // Nothing is timed any more: a filter that stays makes all later ones slow.
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
      return say(samples.na_zero_ns, "malloc or calloc starts a thread or process: their system calls are not known");
    }
    const std::size_t number = first_difference(in_malloc, in_calloc);
    // A single one is tolerated: it may be something done now and then.
    if (number == SyscallCounter::kNumbers || ++apart < 2) continue;
    const char* name = syscall_name(number);
    std::snprintf(&samples.na_zero_ns[0], sizeof samples.na_zero_ns,
                  "malloc and calloc make different system calls (%s: %u and %u): their difference is not zeroing",
                  name != nullptr ? name : "unnamed", in_malloc.counts[number], in_calloc.counts[number]);
    return;
  }
}

/// Whether malloc hands out memory that it, or free, has cleared or written to.
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
  // Half of the pages: a free list may be in some of them.
  return by_memset || cleared > kept || (pages > 2 && faults_in_malloc > static_cast<std::int64_t>(pages / 2));
}

/// Nanoseconds to store zeros into a page that is not populated, byte by byte.
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

/// Of three times the shortest: what else runs on the machine would excuse other work.
std::int64_t time_slow_page() { return std::min({time_fresh_page(), time_fresh_page(), time_fresh_page()}); }

/// The median of calloc minus malloc in the second half of the operations.
std::int64_t median_difference(const SampleBlock& samples) {
  // Sorted in place one by one: nothing here may allocate.
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

/// Pages of a block that are populated and all zero when calloc hands it out: what it may have cleared.
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

}  // namespace

void examine_difference(SampleBlock& samples) {
  const std::int64_t difference = median_difference(samples);
  // One page more: the block may not begin at a page, and its header may be cleared too.
  const auto pages = static_cast<std::int64_t>(zero_pages_of_calloc(samples.request) + 1);
  if (difference > kSlowest * pages * time_slow_page()) {
    std::snprintf(&samples.na_zero_ns[0], sizeof samples.na_zero_ns,
                  "calloc takes %lld µs longer than malloc, and clearing %lld pages could not: it does other work",
                  static_cast<long long>(difference / 1000), static_cast<long long>(pages));
    return compare_system_calls(samples);
  }
  if (malloc_writes(samples.request.size_bytes)) {
    return say(samples.na_zero_ns,
               "malloc hands out memory that was cleared or written to: nothing is left to compare");
  }
  compare_system_calls(samples);
}

}  // namespace zerotax
