#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <functional>
#include <memory>

#include "instructions.h"
#include "meter/audit.h"
#include "meter/meter.h"

// The test program contains a planted allocator. Each test sets these functions: what a large calloc does and returns,
// and what free does.
inline std::function<void*()> planted_calloc;
inline std::function<void()> planted_free;
inline char* arena = nullptr;
inline constexpr std::size_t kArenaPages = 4096;

inline bool in_arena(const void* block) {
  const char* at = static_cast<const char*>(block);
  return arena != nullptr && at >= arena && at < arena + kArenaPages * zerotax::page_bytes();
}

extern "C" {

void* __libc_calloc(std::size_t count, std::size_t bytes);
void __libc_free(void* block);

// A program includes this file in only one source file.
// NOLINTNEXTLINE(misc-definitions-in-headers)
void* calloc(std::size_t count, std::size_t bytes) noexcept {
  return planted_calloc ? planted_calloc() : __libc_calloc(count, bytes);
}

// NOLINTNEXTLINE(misc-definitions-in-headers)
void free(void* block) noexcept {
  if (!in_arena(block)) return __libc_free(block);
  if (planted_free) planted_free();
}

}  // extern "C"

namespace zerotax {

/// Stores zeros by its own instructions, so that no GOT slot reveals the stores.
using instructions::store_zeros;

inline void call_memset(void* target, std::size_t bytes) {
  volatile std::size_t hidden = bytes;
  std::memset(target, 0, hidden);
}

/// One meter for all tests, because a meter's hooks are installed only once in a process. Each test has its own blocks.
class Audit : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    void* memory =
        ::mmap(nullptr, kArenaPages * page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    ::madvise(memory, kArenaPages * page_bytes(), MADV_NOHUGEPAGE);
    arena = static_cast<char*>(memory);
    samples = std::make_unique<SampleBlock>();
    meter = std::make_unique<AuditMeter>(*samples);
  }
  void SetUp() override {
    if (samples->na_inline[0] != '\0') GTEST_SKIP() << &samples->na_inline[0];
    if (samples->na_syscalls[0] != '\0') GTEST_SKIP() << &samples->na_syscalls[0];
  }

  /// Returns pages that no other test uses.
  static char* fresh(std::size_t pages) {
    char* block = arena + used * page_bytes();
    used += pages + 1;
    return block;
  }
  /// Returns the metrics of one calloc of `bytes` that calls `act` and returns `block`.
  static OpSample audit(char* block, std::size_t bytes, const std::function<void()>& act,
                        const std::function<void()>& in_free = {}) {
    OpSample op{};
    clear_operation(op);
    meter->begin_operation(op);
    planted_calloc = [&] {
      act();
      return static_cast<void*>(block);
    };
    void* given = meter->allocate(bytes);
    planted_calloc = nullptr;
    EXPECT_EQ(given, block);
    planted_free = in_free;
    meter->release(given);
    planted_free = nullptr;
    meter->end_operation();
    return op;
  }
  /// Returns the metrics of one free of a block that calloc returned unchanged and whose first `dirty_pages` are dirty.
  static OpSample audit_free(char* block, std::size_t bytes, std::size_t dirty_pages,
                             const std::function<void()>& act) {
    OpSample op{};
    clear_operation(op);
    meter->begin_operation(op);
    planted_calloc = [&] { return static_cast<void*>(block); };
    void* given = meter->allocate(bytes);
    planted_calloc = nullptr;
    dirty(block, dirty_pages);
    planted_free = act;
    meter->release(given);
    planted_free = nullptr;
    meter->end_operation();
    return op;
  }
  static void dirty(char* block, std::size_t pages) {
    for (std::size_t page = 0; page < pages; ++page) block[page * page_bytes()] = 1;
  }

  static std::unique_ptr<SampleBlock> samples;
  static std::unique_ptr<AuditMeter> meter;
  static std::size_t used;
};
inline std::unique_ptr<SampleBlock> Audit::samples;
inline std::unique_ptr<AuditMeter> Audit::meter;
inline std::size_t Audit::used = 1;

}  // namespace zerotax
