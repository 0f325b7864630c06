#include "meter/zeroing_hook.h"

#include <gtest/gtest.h>
#include <strings.h>

#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <thread>
#include <vector>

// The compiler does not know these names, so it keeps the calls as written.
extern "C" {
void call_bzero(void* target, std::size_t bytes) __asm__("bzero");
void* call_memset_checked(void* target, int value, std::size_t bytes, std::size_t room) __asm__("__memset_chk");
void call_explicit_bzero_checked(void* target, std::size_t bytes, std::size_t room) __asm__("__explicit_bzero_chk");
}

namespace zerotax {
namespace {

class Listener final : public ZeroingHook::Listener {
 public:
  void before_zeroing(void* /*target*/, std::size_t bytes) override { before.push_back(bytes); }
  void after_zeroing(void* /*target*/, std::size_t bytes) override { after.push_back(bytes); }
  std::vector<std::size_t> before;
  std::vector<std::size_t> after;
};

/// A pointer to memset that the loader resolves.
void* (*volatile in_data)(void*, int, std::size_t) = &std::memset;

/// Hides a value from the compiler, so that it does not replace a call with stores.
template <typename T>
T hidden(T value) {
  volatile T copy = value;
  return copy;
}

class ZeroingHookTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { slots = ZeroingHook::install(); }
  void SetUp() override {
    // Reserves memory first, because the listener must not cause the stores that it counts.
    listener.before.reserve(100);
    listener.after.reserve(100);
  }
  static std::size_t slots;
  Listener listener;
  char buffer[4096];
};
std::size_t ZeroingHookTest::slots = 0;

TEST_F(ZeroingHookTest, FindsSlotsInThisProgramAndInTheCLibrary) { EXPECT_GE(slots, 2U); }

TEST_F(ZeroingHookTest, SeesMemsetAndItsKinWhenTheyWriteZeros) {
  ZeroingHook::listen(&listener);
  std::memset(&buffer[0], hidden(0), hidden<std::size_t>(100));
  std::memset(&buffer[0], hidden(1), hidden<std::size_t>(200));
  ::bzero(&buffer[0], hidden<std::size_t>(300));
  ::explicit_bzero(&buffer[0], hidden<std::size_t>(400));
  std::wmemset(reinterpret_cast<wchar_t*>(&buffer[0]), hidden(L'\0'), hidden<std::size_t>(125));
  std::memset(&buffer[0], hidden(0), hidden<std::size_t>(0));
  ZeroingHook::listen(nullptr);
  EXPECT_EQ(listener.before, listener.after);
  // The compiler may turn bzero into memset, which stores the same.
  EXPECT_EQ(listener.before, (std::vector<std::size_t>{100, 300, 400, 500}));
}

TEST_F(ZeroingHookTest, SeesTheCallsThatACompilerWouldReplace) {
  ZeroingHook::listen(&listener);
  call_bzero(&buffer[0], hidden<std::size_t>(100));
  call_memset_checked(&buffer[0], hidden(0), hidden<std::size_t>(200), sizeof buffer);
  call_memset_checked(&buffer[0], hidden(1), hidden<std::size_t>(250), sizeof buffer);
  call_explicit_bzero_checked(&buffer[0], hidden<std::size_t>(300), sizeof buffer);
  ZeroingHook::listen(nullptr);
  EXPECT_EQ(listener.before, (std::vector<std::size_t>{100, 200, 300}));
  EXPECT_EQ(listener.before, listener.after);
  for (std::size_t i = 0; i < 300; ++i) EXPECT_EQ(buffer[i], 0) << i;
}

TEST_F(ZeroingHookTest, SeesCallsThroughEveryKindOfSlot) {
  void* (*volatile in_table)(void*, int, std::size_t) = &std::memset;
  ZeroingHook::listen(&listener);
  in_table(&buffer[0], 0, 100);  // the call that a library built with -fno-plt makes
  in_data(&buffer[0], 0, 200);
  ZeroingHook::listen(nullptr);
  EXPECT_EQ(listener.before, (std::vector<std::size_t>{100, 200}));
}

TEST_F(ZeroingHookTest, SeesTheCLibrarysOwnCalls) {
#if defined(__aarch64__)
  GTEST_SKIP() << "glibc calls its own memset directly on arm64, through no slot";
#endif
  // glibc's calloc of a recycled heap chunk clears it with its internal memset.
  void* block = std::malloc(hidden<std::size_t>(20'000));
  std::memset(block, hidden(1), hidden<std::size_t>(20'000));
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  std::free(block);
  ZeroingHook::listen(&listener);
  void* zeroed = std::calloc(hidden<std::size_t>(20'000), 1);
  ZeroingHook::listen(nullptr);
  ASSERT_EQ(reinterpret_cast<std::uintptr_t>(zeroed), address) << "the chunk was not recycled";
  ASSERT_EQ(listener.before.size(), 1U);
  EXPECT_GE(listener.before[0], 20'000U);
  std::free(zeroed);
}

TEST_F(ZeroingHookTest, WritesWhatWasAsked) {
  ZeroingHook::listen(&listener);
  void* filled = std::memset(&buffer[0], hidden(0x7f), hidden<std::size_t>(sizeof buffer));
  void* cleared = std::memset(&buffer[8], hidden(0x100), hidden<std::size_t>(16));
  ZeroingHook::listen(nullptr);
  EXPECT_EQ(filled, &buffer[0]);
  EXPECT_EQ(cleared, &buffer[8]);
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(buffer[i], i >= 8 && i < 24 ? 0 : 0x7f) << i;
  EXPECT_EQ(listener.before, (std::vector<std::size_t>{16})) << "memset uses only the low byte of its value";
}

TEST_F(ZeroingHookTest, HearsNothingFromOtherThreads) {
  ZeroingHook::listen(&listener);
  std::thread([this] { std::memset(&buffer[0], hidden(0), hidden<std::size_t>(1234)); }).join();
  ZeroingHook::listen(nullptr);
  for (const std::size_t bytes : listener.before) EXPECT_NE(bytes, 1234U);
}

}  // namespace
}  // namespace zerotax
