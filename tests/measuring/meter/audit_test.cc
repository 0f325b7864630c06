#include "meter/audit.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <utility>

#include "audit_testing.h"

namespace zerotax {
namespace {

TEST_F(Audit, KnowsWhatWasDirtyInBlocksThatCameInAnyOrder) {
  const std::size_t kBytes = 8 * page_bytes();
  char* low = fresh(8);
  char* high = fresh(8);
  for (char* block : {high, low}) {
    audit(block, kBytes, [] {});
    dirty(block, 8);
  }
  for (char* block : {high, low}) {
    const OpSample op = audit(block, kBytes, [&] { store_zeros(block, kBytes); });
    EXPECT_EQ(op.zeroed_bytes, kBytes);
    EXPECT_EQ(op.redundant_zeroed_bytes, 0);
    EXPECT_EQ(op.methods, kByInline);
    const OpSample again = audit(block, kBytes, [&] { store_zeros(block, kBytes); });
    EXPECT_EQ(again.redundant_zeroed_bytes, kBytes);
  }
}

TEST_F(Audit, RemembersBlocksThatOverlapAsOne) {
  const std::size_t kBytes = 4 * page_bytes();
  char* block = fresh(100);
  for (std::size_t i = 0; i < 90; ++i) audit(block + i * page_bytes(), kBytes, [] {});
  char* other = fresh(4);
  audit(other, kBytes, [] {});
  dirty(other, 4);
  EXPECT_EQ(audit(other, kBytes, [&] { store_zeros(other, kBytes); }).zeroed_bytes, kBytes);
}

TEST_F(Audit, CountsManySmallMemsetsOnce) {
  constexpr std::size_t kPiece = 64;
  const std::size_t kBytes = 32 * page_bytes();
  char* block = fresh(32);
  const auto zero_by_pieces = [&] {
    for (std::size_t at = 0; at < kBytes; at += kPiece) call_memset(block + at, kPiece);
  };
  for (int i = 0; i < 2; ++i) {
    const OpSample op = audit(block, kBytes, zero_by_pieces);
    EXPECT_EQ(op.zeroed_bytes, kBytes);
    EXPECT_EQ(op.redundant_zeroed_bytes, kBytes);
    EXPECT_EQ(op.methods, kByMemset);
  }
}

TEST_F(Audit, CountsAPageSharedWithNeighboursOnlyIfThePageNextToItWasFilled) {
  char* memory = fresh(8);
  char* block = memory + 100;
  const std::size_t kBytes = 5 * page_bytes();  // ends 100 bytes into the sixth page
  // The first and last page are populated for headers.
  const OpSample headers = audit(block, kBytes, [&] {
    memory[0] = 1;
    memory[5 * page_bytes() + 200] = 1;
  });
  EXPECT_EQ(headers.populated_bytes, page_bytes() - 100 + 100);
  EXPECT_EQ(headers.zeroed_bytes, 0);
  EXPECT_EQ(headers.methods, 0U);
  const OpSample whole = audit(block, kBytes, [&] { store_zeros(block, kBytes); });
  EXPECT_EQ(whole.zeroed_bytes, kBytes);
  // Zeros over all pages but the first two.
  const OpSample end = audit(block, kBytes, [&] {
    memory[0] = 2;
    store_zeros(memory + 2 * page_bytes(), 3 * page_bytes() + 100);
  });
  EXPECT_EQ(end.zeroed_bytes, 3 * page_bytes() + 100);
  EXPECT_EQ(end.redundant_zeroed_bytes, 3 * page_bytes() + 100);
  const OpSample start = audit(block, kBytes, [&] {
    store_zeros(block, 2 * page_bytes() - 100);
    memory[5 * page_bytes() + 200] = 2;
  });
  EXPECT_EQ(start.zeroed_bytes, 2 * page_bytes() - 100);
}

TEST_F(Audit, AddsStoresOfBothKinds) {
  const std::size_t kBytes = 4 * page_bytes();
  char* block = fresh(4);
  audit(block, kBytes, [] {});
  dirty(block, 4);
  const OpSample op = audit(block, kBytes, [&] {
    call_memset(block, page_bytes() + 10);
    store_zeros(block + 2 * page_bytes(), 2 * page_bytes());
    block[page_bytes()] = 0;
  });
  // One byte of the second page was stored. Of the rest of the page, only the upper bound is known, so the part that
  // memset did not write counts too.
  EXPECT_EQ(op.zeroed_bytes, 4 * page_bytes());
  EXPECT_EQ(op.redundant_zeroed_bytes, 0);
  EXPECT_EQ(op.methods, kByMemset | kByInline);
  EXPECT_EQ(op.not_zero, 0U);
}

TEST_F(Audit, SaysThatATallyIsIncompleteIfItHasNoRoomForEveryKindOfCall) {
  char* block = fresh(1);
  const auto many = [](std::size_t kinds) {
    const long harmless[] = {SYS_getpid,    SYS_getppid,      SYS_getuid,          SYS_geteuid,     SYS_getgid,
                             SYS_getegid,   SYS_gettid,       SYS_umask,           SYS_sched_yield, SYS_getresgid,
                             SYS_getpgid,   SYS_getsid,       SYS_times,           SYS_uname,       SYS_getpriority,
                             SYS_getresuid, SYS_getrlimit,    SYS_getrusage,       SYS_sysinfo,     SYS_getcwd,
                             SYS_getitimer, SYS_clock_getres, SYS_sync_file_range, SYS_lseek,       SYS_close};
    for (std::size_t i = 0; i < kinds; ++i) ::syscall(harmless[i], -1, 0, 0, 0);
  };
  const OpSample most = audit(block, page_bytes(), [&] { many(kSyscallKinds); });
  EXPECT_EQ(most.calloc_syscalls.used, kSyscallKinds);
  EXPECT_EQ(most.calloc_syscalls.incomplete, 0U);
  EXPECT_EQ(audit(block, page_bytes(), [&] { many(kSyscallKinds + 1); }).calloc_syscalls.incomplete, 1U);
}

TEST_F(Audit, CountsNoSystemCallOfItsOwn) {
  char* block = fresh(4);
  const OpSample op = audit(block, 4 * page_bytes(), [&] {
    call_memset(block, 4 * page_bytes());
    ::syscall(SYS_getppid);
  });
  ASSERT_EQ(op.calloc_syscalls.used, 1U);
  EXPECT_EQ(op.calloc_syscalls.kinds[0].number, static_cast<std::uint32_t>(SYS_getppid));
  EXPECT_EQ(op.calloc_syscalls.kinds[0].calls, 1U);
  EXPECT_EQ(op.free_syscalls.used, 0U);
}

TEST_F(Audit, ClaimsNoStoreWhereTheKernelWasAskedToPopulate) {
  const std::size_t kBytes = 4 * page_bytes();
  char* block = fresh(4);
  const OpSample op = audit(block, kBytes, [&] { ::mlock(block, kBytes); });
  ::munlock(block, kBytes);
  EXPECT_EQ(op.populated_bytes, kBytes);
  EXPECT_EQ(op.zeroed_bytes, 0);
}

TEST_F(Audit, CountsStoresOverPagesThatTheKernelWasAskedToPopulate) {
  const std::size_t kBytes = 8 * page_bytes();
  constexpr int kPopulateWrite = 23;
  const std::pair<const char*, std::function<void(char*)>> ways[] = {
      {"mlock", [&](char* block) { ::mlock(block, kBytes); }},
      {"mlock2", [&](char* block) { ::syscall(SYS_mlock2, block, kBytes, 0); }},
      {"MADV_POPULATE_WRITE", [&](char* block) { ::madvise(block, kBytes, kPopulateWrite); }},
      {"MAP_POPULATE",
       [&](char* block) {
         static_cast<void>(::mmap(block, kBytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE, -1, 0));
       }},
      {"MAP_LOCKED", [&](char* block) {
         static_cast<void>(::mmap(block, kBytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_LOCKED, -1, 0));
       }}};
  for (const auto& [name, populate] : ways) {
    char* block = fresh(8);
    const auto act = [&, &ask = populate] {
      ask(block);
      store_zeros(block, kBytes / 2);
    };
    for (int round = 0; round < 3; ++round) {
      const OpSample op = audit(block, kBytes, act);
      EXPECT_EQ(op.zeroed_bytes, kBytes / 2) << name << ", round " << round;
      EXPECT_EQ(op.redundant_zeroed_bytes, kBytes / 2) << name;
    }
    ::munlock(block, kBytes);
  }
}

TEST_F(Audit, ClaimsNothingOfPagesThatWereMovedIntoTheBlock) {
  const std::size_t kBytes = 4 * page_bytes();
  char* block = fresh(4);
  char* other = fresh(4);
  const OpSample op = audit(block, kBytes, [&] {
    store_zeros(other, kBytes);
    ::mremap(other, kBytes, kBytes, MREMAP_MAYMOVE | MREMAP_FIXED, block);
  });
  EXPECT_EQ(op.zeroed_bytes, kNotMeasured);
  EXPECT_NE(std::string(&samples->na_unseen[0]).find("moved"), std::string::npos);
  samples->na_unseen[0] = '\0';
}

TEST_F(Audit, CountsWhatFreeClearsByMemset) {
  const std::size_t kBytes = 4 * page_bytes();
  char* block = fresh(4);
  const OpSample op = audit_free(block, kBytes, 1, [&] { call_memset(block, kBytes - 10); });
  EXPECT_EQ(op.zeroed_in_free_bytes, kBytes - 10);
  EXPECT_EQ(op.redundant_zeroed_in_free_bytes, 3 * page_bytes() - 10);
  EXPECT_EQ(op.free_methods, kByMemset);
  EXPECT_EQ(op.zeroed_bytes, 0);
  EXPECT_EQ(op.methods, 0U);
}

TEST_F(Audit, CountsWhatFreeClearsByStoresOfItsOwn) {
  const std::size_t kBytes = 4 * page_bytes();
  char* block = fresh(4);
  for (int round = 0; round < 3; ++round) {
    const OpSample op = audit_free(block, kBytes, 2, [&] { store_zeros(block, kBytes); });
    EXPECT_EQ(op.zeroed_in_free_bytes, kBytes);
    EXPECT_EQ(op.redundant_zeroed_in_free_bytes, 2 * page_bytes());
    EXPECT_EQ(op.free_methods, kByInline);
    EXPECT_EQ(op.zeroed_bytes, 0);
  }
}

TEST_F(Audit, LooksAtPagesBeforeFreeGivesThemBack) {
  const std::size_t kBytes = 4 * page_bytes();
  char* block = fresh(4);
  const auto purge = [&] { ::madvise(block, kBytes, MADV_DONTNEED); };
  const OpSample cleared = audit_free(block, kBytes, 4, [&] {
    store_zeros(block, 3 * page_bytes());
    purge();
  });
  EXPECT_EQ(cleared.zeroed_in_free_bytes, 3 * page_bytes());
  EXPECT_EQ(cleared.redundant_zeroed_in_free_bytes, 0);
  const OpSample returned = audit_free(block, kBytes, 4, purge);
  EXPECT_EQ(returned.zeroed_in_free_bytes, 0);
  EXPECT_EQ(returned.free_methods, 0U);
  const OpSample unmapped = audit_free(block, kBytes, 4, [&] { ::munmap(block, kBytes); });
  EXPECT_EQ(unmapped.zeroed_in_free_bytes, 0);
}

TEST_F(Audit, LooksAtPagesBeforeFreeClosesThem) {
  const std::size_t kBytes = 4 * page_bytes();
  char* block = fresh(4);
  const OpSample op = audit_free(block, kBytes, 4, [&] {
    store_zeros(block, 2 * page_bytes());
    ::mprotect(block, kBytes, PROT_NONE);
  });
  EXPECT_EQ(op.zeroed_in_free_bytes, 2 * page_bytes());
  ::mprotect(block, kBytes, PROT_READ | PROT_WRITE);
}

TEST_F(Audit, CountsAFailedSystemCallOfFreeForNothing) {
  const std::size_t kBytes = 4 * page_bytes();
  char* block = fresh(4);
  const OpSample op = audit_free(block, kBytes, 4, [&] {
    store_zeros(block, kBytes);
    static_cast<void>(::mmap(block, kBytes, PROT_READ, MAP_FIXED | MAP_SHARED, -1, 0));
  });
  EXPECT_EQ(op.zeroed_in_free_bytes, kBytes);
}

TEST_F(Audit, DoesNotClaimThatNothingWasZeroedWhereAThreadClearsTheBlockAfterFree) {
  const std::size_t kBytes = 4 * page_bytes();
  char* block = fresh(4);
  OpSample first{};
  clear_operation(first);
  meter->begin_operation(first);
  planted_calloc = [&] { return static_cast<void*>(block); };
  void* given = meter->allocate(kBytes);
  dirty(block, 4);
  meter->release(given);
  meter->end_operation();
  EXPECT_EQ(first.zeroed_in_free_bytes, 0);
  std::thread([&] { store_zeros(block, kBytes); }).join();
  OpSample second{};
  clear_operation(second);
  meter->begin_operation(second);
  meter->release(meter->allocate(kBytes));
  planted_calloc = nullptr;
  meter->end_operation();
  EXPECT_EQ(first.zeroed_in_free_bytes, kNotMeasured);
  EXPECT_NE(std::string(&samples->na_unseen_in_free[0]).find("after free had returned"), std::string::npos);
  samples->na_unseen_in_free[0] = '\0';
  EXPECT_EQ(second.zeroed_bytes, 0);
  EXPECT_EQ(second.zeroed_in_free_bytes, 0);
}

TEST_F(Audit, NotesTheAlignmentOfABlockThatSuitsNotEveryType) {
  char* block = fresh(2);
  EXPECT_EQ(audit(block, page_bytes(), [] {}).misaligned, 0U);
  EXPECT_EQ(audit(block + 16, 100, [] {}).misaligned, 0U);
  EXPECT_EQ(audit(block + 8, page_bytes(), [] {}).misaligned, 8U);
  EXPECT_EQ(audit(block + 8, 8, [] {}).misaligned, 0U) << "too small for a type that needs more alignment";
}

TEST_F(Audit, CountsThePagesThatTheProgramsWritesPopulated) {
  const std::size_t kBytes = 8 * page_bytes();
  char* block = fresh(8);
  OpSample op{};
  for (const std::size_t expected : {2 * page_bytes(), std::size_t{0}}) {
    clear_operation(op);
    meter->begin_operation(op);
    meter->touch(block, kBytes, 0.25);
    meter->end_operation();
    EXPECT_EQ(op.touch_populated_bytes, expected);
  }
}

TEST_F(Audit, FindsTheByteThatIsNotZero) {
  char* block = fresh(4);
  const OpSample op = audit(block, 4 * page_bytes(), [&] { block[3 * page_bytes() + 7] = 1; });
  EXPECT_EQ(op.not_zero, 1U);
  EXPECT_EQ(op.not_zero_offset, 3 * page_bytes() + 7);
  EXPECT_EQ(op.zeroed_bytes, 0);
}

}  // namespace
}  // namespace zerotax
