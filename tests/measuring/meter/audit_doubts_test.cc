// Cases in which the audit knows which zeros were stored, and which of these zeros remain. In other cases, the audit
// reports that it does not know.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>

#include "audit_testing.h"

namespace zerotax {
namespace {

class AuditDoubts : public Audit {};

TEST_F(AuditDoubts, CountsWhatMemsetLeftOfAPageIfItWasStoredToBeforeOrAfter) {
  const std::size_t kBytes = 8 * page_bytes();
  const auto each_page = [&](char* block, const std::function<void(char*)>& act) {
    for (std::size_t at = 0; at < kBytes; at += page_bytes()) act(block + at);
  };
  const auto some = [](char* page) { call_memset(page + 100, 16); };
  const auto rest = [](char* page) {
    store_zeros(page, 100);
    store_zeros(page + 116, page_bytes() - 116);
  };
  for (const bool before : {true, false}) {
    char* block = fresh(8);
    // Writes over fresh pages, then over zeros, and then over data of the program.
    for (int round = 0; round < 3; ++round) {
      const OpSample op = audit(block, kBytes, [&] {
        each_page(block, [&](char* page) {
          if (before) rest(page);
          some(page);
          if (!before) rest(page);
        });
      });
      EXPECT_EQ(op.zeroed_bytes, kBytes) << before << round;
      EXPECT_EQ(op.redundant_zeroed_bytes, round < 2 ? kBytes : std::size_t{128}) << before << round;
      EXPECT_EQ(op.methods, kByMemset | kByInline);
      if (round == 1) dirty(block, 8);
    }
  }
  char* block = fresh(8);
  for (int round = 0; round < 2; ++round) {
    const OpSample op = audit(block, kBytes, [&] { each_page(block, some); });
    EXPECT_EQ(op.zeroed_bytes, 8 * 16) << "and nothing else";
    EXPECT_EQ(op.methods, kByMemset);
  }
}

TEST_F(AuditDoubts, ClaimsNothingOfZerosThatTheCallGaveBackToTheKernel) {
  const std::size_t kBytes = 4 * page_bytes();
  constexpr int kGuardInstall = 102;
  constexpr int kGuardRemove = 103;
  const std::pair<const char*, std::function<void(char*)>> ways[] = {
      {"madvise", [&](char* block) { ::madvise(block, kBytes, MADV_DONTNEED); }},
      {"guards",
       [&](char* block) {
         if (::madvise(block, kBytes, kGuardInstall) != 0) ::madvise(block, kBytes, MADV_DONTNEED);
         ::madvise(block, kBytes, kGuardRemove);
       }},
      {"mmap", [&](char* block) {
         static_cast<void>(
             ::mmap(block, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
       }}};
  for (const auto& [name, drop] : ways) {
    char* block = fresh(4);
    const OpSample op = audit(block, kBytes, [&, &go = drop] {
      store_zeros(block, kBytes);
      go(block);
    });
    EXPECT_EQ(op.zeroed_bytes, kNotMeasured) << name;
    EXPECT_NE(std::string(&samples->na_unseen[0]).find("returned to the kernel"), std::string::npos) << name;
    samples->na_unseen[0] = '\0';
    const OpSample clean = audit(block, kBytes, [&, &go = drop] {
      go(block);
      ::madvise(block, kBytes, 23);  // MADV_POPULATE_WRITE
    });
    EXPECT_EQ(clean.zeroed_bytes, 0) << name << ": the dirty contents are gone, and nothing was stored";
  }
}

TEST_F(AuditDoubts, ClaimsNoStoresOfAnotherThread) {
  const std::size_t kBytes = 32 * page_bytes();
  char* block = fresh(32);
  audit(block, kBytes, [] {});
  dirty(block, 32);
  std::atomic<int> turn{0};
  std::thread other([&] {
    while (turn.load() == 0) std::this_thread::yield();
    ::madvise(block, kBytes, MADV_DONTNEED);
    ::madvise(block, kBytes, 23);  // MADV_POPULATE_WRITE
    turn = 2;
  });
  const OpSample op = audit(block, kBytes, [&] {
    turn = 1;
    while (turn.load() != 2) std::this_thread::yield();
  });
  other.join();
  EXPECT_EQ(op.zeroed_bytes, kNotMeasured);
  EXPECT_NE(std::string(&samples->na_unseen[0]).find("another thread"), std::string::npos) << &samples->na_unseen[0];
  samples->na_unseen[0] = '\0';
}

TEST_F(AuditDoubts, KnowsWhatAFileHoldsInPagesThatAreNotMappedYet) {
  const std::size_t kBytes = 4 * page_bytes();
  const int file = ::memfd_create("block", MFD_CLOEXEC);
  ASSERT_EQ(::ftruncate(file, kBytes), 0);
  ASSERT_EQ(::pwrite(file, "x", 1, 0), 1);
  ASSERT_EQ(::pwrite(file, "x", 1, 3 * page_bytes()), 1);
  char* block = fresh(4);
  ASSERT_NE(::mmap(block, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0), MAP_FAILED);
  ::close(file);
  const OpSample op = audit(block, kBytes, [&] { call_memset(block, kBytes); });
  EXPECT_EQ(op.zeroed_bytes, kBytes);
  EXPECT_EQ(op.redundant_zeroed_bytes, 2 * page_bytes());
  EXPECT_EQ(op.kernel_zeroed_bytes, kNotMeasured) << "the first to write populates and zeroes a page of shared memory";
  samples->na_unseen_in_free[0] = samples->na_unseen_pages[0] = '\0';
}

TEST_F(AuditDoubts, LeavesPagesToAnAllocatorThatRegistersThemItself) {
  const std::size_t kBytes = 4 * page_bytes();
  char* block = fresh(4);
  audit(block, kBytes, [] {});
  const int watcher = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | 1));
  uffdio_api api{UFFD_API, (1 << 13) | (1 << 15), 0};
  ASSERT_EQ(::ioctl(watcher, UFFDIO_API, &api), 0);
  int refused = -1;
  audit(block, kBytes, [&] {
    uffdio_register registration{{reinterpret_cast<std::uint64_t>(block), kBytes}, UFFDIO_REGISTER_MODE_WP, 0};
    refused = ::ioctl(watcher, UFFDIO_REGISTER, &registration);
  });
  EXPECT_EQ(refused, 0);
  ::close(watcher);
}

}  // namespace
}  // namespace zerotax
