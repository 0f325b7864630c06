// Cases in which the heap cannot learn which pages are populated. PAGEMAP_SCAN, the descriptor or /proc is missing, or
// the heap's descriptor is another process's pagemap. In each case, the heap clears the whole block without looking.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <ctime>
#include <thread>

#include "largecache_hard_testing.h"
#include "zero_page.h"

namespace zerotax::largecache {
namespace {

constexpr std::size_t kPagemapSize = kMiB;

/// Runs one_dirty_page, and checks that the heap cleared whole blocks again, without looking at pages.
std::string without_looking(HardHeap& heap, const Way& way) {
  const auto before = heap.counters();
  constexpr int kRounds = 4;
  if (std::string wrong = one_dirty_page(heap, kRounds); !wrong.empty()) return wrong;
  const auto after = heap.counters();
  const std::uint64_t hits = after.hits - before.hits;
  if (hits < kRounds - 1) return "the block was not reused";
  const std::uint64_t zeroed = after.zeroed_bytes - before.zeroed_bytes;
  const std::uint64_t purged = after.purged_bytes - before.purged_bytes;
  const bool all =
      std::string(way.policy) == "dirty" ? zeroed == hits * kPagemapSize : zeroed + purged >= hits * kPagemapSize;
  return all ? "" : "cleared " + std::to_string(zeroed) + " + " + std::to_string(purged) + " bytes only";
}

class PagemapProcess : public testing::TestWithParam<Way> {};

// Makes only PAGEMAP_SCAN fail (SECCOMP_RET_ERRNO).
bool forbid(unsigned error) {
  constexpr unsigned kScan = _IOWR('f', 16, char[96]);
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[1])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kScan, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(filter), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// With error 0, the call seems to succeed, but does nothing.
TEST_P(PagemapProcess, WithoutPagemapScanClearsAll) {
  for (const unsigned error : {ENOTTY, EINVAL, EPERM, ENOSYS, 0}) {
    for (const bool in_the_middle : {false, true}) {
      EXPECT_GOOD_IN_CHILD([&]() -> std::string {
        HardHeap heap(GetParam());
        if (in_the_middle) {
          if (std::string wrong = one_dirty_page(heap); !wrong.empty()) return wrong;
        }
        if (!forbid(error)) return kImpossible;
        return without_looking(heap, GetParam());
      });
    }
  }
}

TEST_P(PagemapProcess, WithoutADescriptorLeftClearsAll) {
  for (const bool in_the_middle : {false, true}) {
    EXPECT_GOOD_IN_CHILD([&]() -> std::string {
      HardHeap heap(GetParam());
      if (in_the_middle) {
        if (std::string wrong = one_dirty_page(heap); !wrong.empty()) return wrong;
      }
      close_range(3, UINT_MAX, 0);
      const rlimit none{3, 3};
      if (setrlimit(RLIMIT_NOFILE, &none) != 0) return kImpossible;
      return without_looking(heap, GetParam());
    });
  }
}

// As soon as the limit permits, the heap opens its descriptor again.
TEST(ProcessWithDescriptors, LooksAgainWhenThereIsOne) {
  if (!kernel_tells()) GTEST_SKIP() << "no PAGEMAP_SCAN";
  if (!has_shared_zero_page()) GTEST_SKIP() << "the test reads all pages, and this kernel populates what is read";
  EXPECT_GOOD_IN_CHILD([]() -> std::string {
    HardHeap heap({"dirty", "new"});
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    const rlimit none{3, limit.rlim_max};
    close_range(3, UINT_MAX, 0);
    setrlimit(RLIMIT_NOFILE, &none);
    if (std::string wrong = without_looking(heap, {"dirty", "new"}); !wrong.empty()) return wrong;
    setrlimit(RLIMIT_NOFILE, &limit);
    heap.heap().decay(true);  // if the heap could not look, it cleared all pages, so all pages are populated
    const auto before = heap.counters();
    if (std::string wrong = one_dirty_page(heap); !wrong.empty()) return wrong;
    const auto after = heap.counters();
    return after.zeroed_bytes - before.zeroed_bytes == (1 + 2 + 3) * kPage ? "" : "it does not look again";
  });
}

// Replaces descriptors 3 to 299, including ours, with the pagemap of a process without this block.
std::string open_anothers(pid_t other, off_t position) {
  const int theirs = open(("/proc/" + std::to_string(other) + "/pagemap").c_str(), O_RDONLY);
  if (theirs < 0) return std::string(kImpossible) + "another's pagemap";
  lseek(theirs, position, SEEK_SET);
  for (int number = 3; number < 300; ++number) dup2(theirs, number);
  return "";
}

TEST_P(PagemapProcess, BelievesNobodyElsesPagemap) {
  for (const off_t position : {off_t{0}, off_t{1} << 61, off_t{LLONG_MAX}}) {
    EXPECT_GOOD_IN_CHILD([&]() -> std::string {
      const pid_t other = fork();
      if (other == 0) {
        pause();
        _exit(0);
      }
      HardHeap heap(GetParam());
      std::string wrong = one_dirty_page(heap);
      for (int time = 0; time < 3 && wrong.empty(); ++time) {
        wrong = open_anothers(other, position);
        if (wrong.empty()) wrong = one_dirty_page(heap);
        close_range(3, UINT_MAX, 0);
        if (wrong.empty()) wrong = one_dirty_page(heap);
      }
      kill(other, SIGKILL);
      waitpid(other, nullptr, 0);
      return wrong;
    });
  }
}

// Another thread replaces the descriptor while the heap works, between the heap's check of the descriptor and the
// ioctl.
TEST_P(PagemapProcess, BelievesNobodyElsesPagemapThatComesInBetween) {
  EXPECT_GOOD_IN_CHILD([&]() -> std::string {
    const pid_t other = fork();
    if (other == 0) {
      pause();
      _exit(0);
    }
    const int theirs = open(("/proc/" + std::to_string(other) + "/pagemap").c_str(), O_RDONLY);
    if (theirs < 0) return kImpossible;
    std::atomic<bool> stop{false};
    std::thread thief([&] {
      while (!stop) {
        for (int number = 256; number < 260; ++number) {
          if (lseek(number, 0, SEEK_CUR) < (off_t{1} << 60)) continue;
          dup2(theirs, number);
          usleep(1);
          close(number);  // so that the heap's next descriptor has the same number
        }
      }
    });
    HardHeap heap(GetParam());
    std::string wrong;
    const std::time_t end = std::time(nullptr) + 2;
    while (wrong.empty() && std::time(nullptr) < end) wrong = one_dirty_page(heap, 50);
    stop = true;
    thief.join();
    kill(other, SIGKILL);
    waitpid(other, nullptr, 0);
    return wrong;
  });
}

TEST_P(PagemapProcess, WithoutProcClearsAll) {
  EXPECT_GOOD_IN_CHILD([&]() -> std::string {
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return kImpossible;
    mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    if (mount("none", "/proc", "tmpfs", 0, nullptr) != 0) return kImpossible;
    HardHeap heap(GetParam());
    return without_looking(heap, GetParam());
  });
}

TEST_P(PagemapProcess, InAChrootClearsAll) {
  EXPECT_GOOD_IN_CHILD([&]() -> std::string {
    char folder[] = "/tmp/largecache_hard_XXXXXX";
    if (mkdtemp(folder) == nullptr || chdir(folder) != 0) return kImpossible;
    rmdir(folder);  // the process still has access to the removed folder
    if (chroot(".") != 0) return kImpossible;
    HardHeap heap(GetParam());
    return without_looking(heap, GetParam());
  });
}

// A process that has changed its user may not open its own pagemap (proc(5), dumpable).
TEST_P(PagemapProcess, OfAnotherUserThanItWasClearsAll) {
  EXPECT_GOOD_IN_CHILD([&]() -> std::string {
    if (setresuid(65534, 65534, 65534) != 0) return kImpossible;
    HardHeap heap(GetParam());
    const int could = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    return could < 0 ? without_looking(heap, GetParam()) : one_dirty_page(heap);
  });
}

// The first thread has ended, so /proc/self belongs to a dead thread and has no memory.
TEST(ProcessWithoutItsFirstThread, StillLooks) {
  if (!kernel_tells()) GTEST_SKIP() << "no PAGEMAP_SCAN";
  if (!has_shared_zero_page()) GTEST_SKIP() << "the test reads all pages, and this kernel populates what is read";
  EXPECT_GOOD_IN_CHILD([]() -> std::string {
    std::thread([] {
      usleep(50'000);
      HardHeap heap({"dirty", "new"});
      std::string wrong = one_dirty_page(heap);
      if (wrong.empty() && heap.counters().zeroed_bytes != (1 + 2 + 3) * kPage) wrong = "it no longer looks";
      _exit(tell(wrong));
    }).detach();
    syscall(SYS_exit, 0);
    return "";
  });
}

INSTANTIATE_TEST_SUITE_P(All, PagemapProcess, testing::ValuesIn(kWays), kName);

}  // namespace
}  // namespace zerotax::largecache
