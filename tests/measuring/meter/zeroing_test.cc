#include "meter/zeroing.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <ctime>
#include <memory>

#include "meter/sample_block.h"
#include "os/page.h"

// This program replaces the clock and the allocator by its own. Time passes only where a test advances it, and by kLook
// nanoseconds at each reading of the clock. A memset of the block takes memset_ns, which the clock adds at the next
// reading.
namespace {

bool planted = false;
bool clock_planted = false;
long now = 0;
alignas(16) unsigned char block[4096];
int memsets = 0;
int memsets_in_free = 0;
long memset_ns = 0;
constexpr long kLook = 10;
char* fresh = nullptr;  // pages that were never touched
int pages_in_calloc = 0;
int pages_in_free = 0;

void take_faults(int pages) {
  for (int i = 0; i < pages; ++i, fresh += zerotax::page_bytes()) *static_cast<volatile char*>(fresh) = 1;
}

void clear_block(int times) {
  volatile std::size_t hidden = sizeof block;
  for (int i = 0; i < times; ++i) std::memset(&block[0], 0, hidden);
}

constexpr long kMalloc = 1000;
constexpr long kCalloc = 50'000;
constexpr long kFree = 300;

}  // namespace

extern "C" {

void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void __libc_free(void* pointer);

int clock_gettime(clockid_t id, timespec* time) noexcept {
  static const auto real = reinterpret_cast<int (*)(clockid_t, timespec*)>(::dlsym(RTLD_NEXT, "clock_gettime"));
  if (!clock_planted) return real(id, time);
  now += kLook;
  if (block[0] == 0) {
    now += memset_ns;
    block[0] = 1;
  }
  *time = {0, now};
  return 0;
}

void* malloc(std::size_t bytes) noexcept {
  if (!planted) return __libc_malloc(bytes);
  now += kMalloc;
  return &block[0];
}

void* calloc(std::size_t count, std::size_t bytes) noexcept {
  if (!planted) return __libc_calloc(count, bytes);
  now += kCalloc;
  take_faults(pages_in_calloc);
  clear_block(memsets);
  return &block[0];
}

void free(void* pointer) noexcept {
  if (!planted) return __libc_free(pointer);
  now += kFree;
  clear_block(memsets_in_free);
  take_faults(pages_in_free);
}

}  // extern "C"

namespace zerotax {
namespace {

class Zeroing : public testing::Test {
 protected:
  void SetUp() override {
    block[0] = 1;
    clock_planted = true;  // set before the meters measure the cost of their clock
  }
  void TearDown() override {
    clock_planted = false;
    memsets_in_free = 0;
  }
  /// Runs one operation in which calloc calls memset `calls` times, each taking `each` nanoseconds.
  void operate(Meter& meter, int calls, long each) {
    memsets = calls;
    memset_ns = each;
    clear_operation(op);
    meter.begin_operation(op);
    planted = true;
    meter.release(meter.allocate(1000));
    planted = false;
    meter.end_operation();
  }
  SampleBlock samples{};
  OpSample op{};
};

TEST_F(Zeroing, TimeIsThatOfEveryMemsetInOneCallocWithoutTheClocks) {
  ZeroingMeter meter(samples);
  EXPECT_GT(samples.got_slots, 0U);
  operate(meter, 1, 500);
  EXPECT_EQ(op.zero_ns, 500);
  EXPECT_EQ(op.calloc_ns, kCalloc + 500 + kLook);
  operate(meter, 3, 500);
  EXPECT_EQ(op.zero_ns, 1500);
  EXPECT_EQ(op.calloc_ns, kCalloc + 1500 + kLook);
  operate(meter, 0, 500);
  EXPECT_EQ(op.zero_ns, 0) << "bytes that an earlier call zeroed do not count";
  EXPECT_EQ(samples.na_zero_ns[0], '\0');
}

TEST_F(Zeroing, MemsetsThatTakeLessThanTheClockAreNotMeasured) {
  ZeroingMeter meter(samples);
  operate(meter, 1000, kLook - 1);
  EXPECT_EQ(op.zero_ns, kNotMeasured);
  EXPECT_EQ(op.calloc_ns, kCalloc + 1000 * (kLook - 1) + kLook)
      << "without the time of reading the clock around each memset";
  EXPECT_NE(samples.na_zero_ns[0], '\0');
}

TEST_F(Zeroing, TimeInFreeIsOfItsMemsets) {
  ZeroingMeter meter(samples);
  memsets_in_free = 2;
  operate(meter, 1, 500);
  EXPECT_EQ(op.zero_ns, 500);
  EXPECT_EQ(op.zero_in_free_ns, 1000);
  EXPECT_EQ(op.free_ns, kFree + 1000 + kLook);
}

TEST_F(Zeroing, DifferenceIsOfMallocAloneAndCallocAlone) {
  DifferentialMeter meter(samples);
  operate(meter, 2, 500);
  EXPECT_EQ(op.malloc_ns, kMalloc + kLook);
  EXPECT_EQ(op.zero_ns, 1000);
  EXPECT_EQ(op.calloc_ns, kCalloc + 1000 + kLook);
}

TEST_F(Zeroing, DifferenceIsTakenWithoutTheClockOfMemsetWhereTheyAreMany) {
  DifferentialMeter meter(samples);
  operate(meter, 100, 500);
  operate(meter, 100, 500);
  EXPECT_EQ(op.zero_ns, kNotMeasured);
  EXPECT_EQ(op.calloc_ns, kCalloc + 500 + kLook) << "the planted clock added them at once, after the call";
}

TEST_F(Zeroing, TimesOfTheTimingPassAreOfTheCallAlone) {
  TimingMeter meter;
  operate(meter, 1, 500);
  EXPECT_EQ(op.calloc_ns, kCalloc + 500 + kLook);
  EXPECT_EQ(op.free_ns, kFree + kLook);
  EXPECT_EQ(op.touch_ns, kNotMeasured);
  EXPECT_EQ(op.touch_faults, kNotMeasured);
  EXPECT_EQ(op.zero_ns, kNotMeasured);
}

TEST_F(Zeroing, FaultsOfTheTimingPassAreOfTheCallAlone) {
  const std::size_t kBytes = 1000 * page_bytes();
  void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ::madvise(memory, kBytes, MADV_NOHUGEPAGE);
  fresh = static_cast<char*>(memory);
  pages_in_calloc = 300;
  pages_in_free = 500;
  TimingMeter meter;
  operate(meter, 0, 0);
  pages_in_calloc = 0;
  pages_in_free = 0;
  ::munmap(memory, kBytes);
  // The kernel may add a few faults at any time.
  EXPECT_GE(op.calloc_faults, 300);
  EXPECT_LE(op.calloc_faults, 310);
  EXPECT_GE(op.free_faults, 500);
  EXPECT_LE(op.free_faults, 510);
}

}  // namespace
}  // namespace zerotax
