// Tests with little memory, with a small stack, and with signals at any moment.
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <fstream>
#include <thread>
#include <vector>

#include "largecache/family.h"
#include "largecache_hard_pages_testing.h"
#include "largecache_hard_testing.h"

namespace zerotax::largecache {
namespace {

class Process : public testing::TestWithParam<Way> {};

class EveryPolicy : public testing::TestWithParam<const Policy*> {};

void* calloc_of(LargeHeap& heap, std::size_t count, std::size_t size) {
  errno = 0;
  return calloc(heap, count, size);
}

TEST_P(EveryPolicy, SaysEnomemToWhatCannotBe) {
  LargeHeap heap(settings_of(GetParam()->name));
  constexpr std::size_t kMost = PTRDIFF_MAX;
  for (const auto& [count, size] : {std::pair{SIZE_MAX, SIZE_MAX},
                                    {SIZE_MAX / 2, std::size_t{3}},
                                    {std::size_t{1}, SIZE_MAX},
                                    {std::size_t{1}, kMost + 1},
                                    {std::size_t{1}, kMost},
                                    {std::size_t{1}, kMost - 4095},
                                    {std::size_t{1}, kMost - 4096 - 8192},
                                    {std::size_t{1} << 32, std::size_t{1} << 32},
                                    {std::size_t{1}, std::size_t{1} << 48}}) {
    EXPECT_EQ(calloc_of(heap, count, size), nullptr) << count << " * " << size;
    EXPECT_EQ(errno, ENOMEM) << count << " * " << size;
  }
  for (const std::size_t size : {kMost - 4095, kMost - 4096 - 8192}) {
    errno = 0;
    EXPECT_EQ(memalign(heap, kMost + 1, size), nullptr);
    EXPECT_EQ(errno, ENOMEM);
  }
  void* const block = malloc(heap, 4 * kMiB);
  for (const std::size_t size : {SIZE_MAX, kMost - 4095, std::size_t{1} << 48}) {
    errno = 0;
    EXPECT_EQ(realloc(heap, block, size), nullptr);
    EXPECT_EQ(errno, ENOMEM);
  }
  EXPECT_EQ(usable_size(heap, block), 4 * kMiB);
  free(heap, block);
  heap.decay(true);
}

// Sanitizers need more address space than any limit leaves them.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_P(EveryPolicy, SaysEnomemAtALimitAndGoesOn) {
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    EXPECT_GOOD_IN_CHILD([&]() -> std::string {
      LargeHeap heap(settings_of(GetParam()->name));
      std::size_t pages = 0;
      std::ifstream("/proc/self/statm") >> pages;
      std::size_t data = pages * kPage;
      if (resource == RLIMIT_DATA) data = 32 * kMiB;
      const rlimit limit{data + 32 * kMiB, data + 32 * kMiB};
      if (setrlimit(resource, &limit) != 0) return kImpossible;
      if (calloc_of(heap, 1, 512 * kMiB) != nullptr || errno != ENOMEM) return "no ENOMEM";
      std::vector<void*> blocks;
      while (blocks.size() < 64) {
        void* const block = calloc_of(heap, 1, 4 * kMiB);
        if (block == nullptr) break;
        if (!is_zero(block, 4 * kMiB)) return "a byte is not zero";
        std::memset(block, 0xab, 4 * kMiB);
        blocks.push_back(block);
      }
      if (blocks.size() == 64 || blocks.size() < 4 || errno != ENOMEM) return "no ENOMEM at the limit";
      // Freed blocks in the cache must not make a request fail for lack of space.
      for (void* block : blocks) heap.deallocate(block);
      const std::size_t together = (blocks.size() - 1) * 4 * kMiB;
      char* const large = static_cast<char*>(calloc_of(heap, 1, together));
      if (large == nullptr) return "the cache is in the way";
      return is_zero(large, together) ? "" : "a byte is not zero in the long block";
    });
  }
}

// Uses up all mappings that the process may have (sysctl vm.max_map_count), so that no mapping can be added, moved or
// split.
class AllMappings {
 public:
  AllMappings() {
    if (all_ == MAP_FAILED) return;
    const auto at = [&](std::size_t page) { return static_cast<char*>(all_) + page * kPage; };
    for (std::size_t page = 1; page < kPages && !full_; page += 2) full_ = mprotect(at(page), kPage, PROT_READ) != 0;
    // Uses up the remaining mappings. Each new mapping is one page. Its protection differs from that of its neighbor,
    // so that the two do not merge.
    while (full_ && mmap(nullptr, kPage, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) {
    }
  }
  ~AllMappings() { munmap(all_, kPages * kPage); }
  AllMappings(const AllMappings&) = delete;
  AllMappings& operator=(const AllMappings&) = delete;
  [[nodiscard]] bool is_full() const { return full_; }

 private:
  static constexpr std::size_t kPages = 200'000;
  void* all_ = mmap(nullptr, kPages* kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  bool full_ = false;
};

struct Bytes {
  char* block;
  std::size_t size;
  unsigned char value;

  // Resizes the block, and fills the new bytes. If resizing fails, the block must be unchanged. Returns the problem, or
  // "".
  std::string resize(LargeHeap& heap, std::size_t to) {
    errno = 0;
    auto* const moved = static_cast<char*>(realloc(heap, block, to));
    if (moved == nullptr) {
      return errno == ENOMEM && all_bytes(block, size, value) ? "" : "refused, but the block changed";
    }
    if (!all_bytes(moved, std::min(size, to), value)) return "lost a byte";
    if (to > size) std::memset(moved + size, value, to - size);
    *this = {moved, to, value};
    return "";
  }
};

TEST_P(EveryPolicy, LosesNoByteAtTheLimitOfMappings) {
  EXPECT_GOOD_IN_CHILD([&]() -> std::string {
    LargeHeap heap(settings_of(GetParam()->name));
    std::vector<Bytes> all;
    for (const std::size_t size : {kMiB, 3 * kMiB, 200 * kKiB, 5 * kMiB}) {
      const auto value = static_cast<unsigned char>(all.size() + 1);
      all.push_back({static_cast<char*>(malloc(heap, size)), size, value});
      std::memset(all.back().block, value, size);
      void* const cached = malloc(heap, size);
      std::memset(cached, 0xab, size);
      free(heap, cached);
    }
    {
      const AllMappings mappings;
      if (!mappings.is_full()) return kImpossible;
      for (int round = 0; round < 12; ++round) {
        for (Bytes& each : all) {
          const std::size_t to = round % 4 == 3 ? each.size / 3 : each.size + each.size / 3;
          if (std::string wrong = each.resize(heap, to); !wrong.empty()) return wrong;
        }
        void* const zeros = calloc_of(heap, 1, 700 * kKiB);
        if (zeros == nullptr ? errno != ENOMEM : !is_zero(zeros, 700 * kKiB)) return "a byte is not zero";
        if (zeros != nullptr) std::memset(zeros, 0xab, 700 * kKiB);
        free(heap, zeros);
      }
    }
    for (Bytes& each : all) {
      if (std::string wrong = each.resize(heap, 20 * kMiB); !wrong.empty()) return wrong;
      if (each.size != 20 * kMiB) return "refused although there is room again";
      free(heap, each.block);
    }
    return is_zero(calloc_of(heap, 1, 20 * kMiB), 20 * kMiB) ? "" : "a byte is not zero afterwards";
  });
}
#endif

// The address sanitizer needs one byte for each eight bytes of the program.
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kGroupLimit = 36 * kMiB;
#else
constexpr std::size_t kGroupLimit = 32 * kMiB;
#endif

/// A memory control group of either version, for the lifetime of this object.
class ControlGroup {
 public:
  ControlGroup() {
    const bool version_1 = access("/sys/fs/cgroup/memory/memory.limit_in_bytes", F_OK) == 0;
    path_ = std::string(version_1 ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup") + "/largecache_hard_" +
            std::to_string(getpid());
    made_ = mkdir(path_.c_str(), 0700) == 0 &&
            set(path_ + (version_1 ? "/memory.limit_in_bytes" : "/memory.max"), std::to_string(kGroupLimit));
  }
  ~ControlGroup() { rmdir(path_.c_str()); }
  ControlGroup(const ControlGroup&) = delete;
  ControlGroup& operator=(const ControlGroup&) = delete;
  [[nodiscard]] bool enter() const { return made_ && set(path_ + "/cgroup.procs", std::to_string(getpid())); }

 private:
  std::string path_;
  bool made_ = false;
};

// The kernel takes 8 MiB that the program has offered, while a thread writes to 20 MiB of other memory.
TEST_P(Process, InAFullControlGroupLosesOfferedPagesOnly) {
  const ControlGroup group;
  EXPECT_GOOD_IN_CHILD([&]() -> std::string {
    if (!group.enter()) return kImpossible;
    HardHeap heap(GetParam());
    for (int round = 0; round < 4; ++round) {
      char* const block = heap.calloc(8 * kMiB);
      if (!is_zero(block, 8 * kMiB)) return "a byte is not zero";
      std::memset(block, 0xab, 8 * kMiB);
      madvise(block, 8 * kMiB, MADV_FREE);
      heap.deallocate(block);
      std::thread other([&] {
        const std::size_t size = 20 * kMiB;
        void* const much = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        std::memset(much, 1, size);
        munmap(much, size);
      });
      char* const again = heap.calloc(8 * kMiB);
      const bool zero = is_zero(again, 8 * kMiB);
      other.join();
      if (!zero || !is_zero(again, 8 * kMiB)) return "a byte is not zero under pressure";
      heap.deallocate(again);
    }
    return "";
  });
}

// Dirties every other page, so that the kernel's list of ranges is as long as possible.
std::string striped(HardHeap& heap, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    char* const block = heap.calloc(4 * kMiB);
    if (!is_zero(block, 4 * kMiB)) return "a byte is not zero";
    for (std::size_t at = 0; at < 4 * kMiB; at += 2 * kPage) block[at] = 1;
    heap.deallocate(block);
  }
  return "";
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_P(Process, NeedsNoMoreStackThanTheSmallestThreadHas) {
  EXPECT_GOOD_IN_CHILD([&]() -> std::string {
    struct Work {
      HardHeap heap;
      std::string wrong = "the thread has not run";
    } work{HardHeap(GetParam()), "the thread has not run"};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, static_cast<std::size_t>(PTHREAD_STACK_MIN));
    pthread_t thread{};
    const auto run = [](void* argument) -> void* {
      auto* const mine = static_cast<Work*>(argument);
      mine->wrong = striped(mine->heap, 40);
      return nullptr;
    };
    if (pthread_create(&thread, &attributes, run, &work) != 0) return kImpossible;
    pthread_join(thread, nullptr);
    return work.wrong;
  });
}
#endif

std::atomic<int> signals{0};

TEST_P(Process, IsInterruptedBySignalsOnAnotherStack) {
  EXPECT_GOOD_IN_CHILD([&]() -> std::string {
    static char stack[64 * kKiB];
    stack_t other{};
    other.ss_sp = stack;
    other.ss_size = sizeof stack;
    sigaltstack(&other, nullptr);
    struct sigaction action {};
    action.sa_handler = [](int) { ++signals; };
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGALRM, &action, nullptr);
    const itimerval often{{0, 100}, {0, 100}};
    setitimer(ITIMER_REAL, &often, nullptr);
    HardHeap heap(GetParam());
    std::string wrong = striped(heap, 60);
    for (int more = 0; wrong.empty() && signals < 10 && more < 100; ++more) wrong = striped(heap, 20);
    return !wrong.empty() ? wrong : signals >= 10 ? "" : "no signals came";
  });
}

INSTANTIATE_TEST_SUITE_P(All, Process, testing::ValuesIn(kWays), kName);
INSTANTIATE_TEST_SUITE_P(All, EveryPolicy, testing::ValuesIn(all_policies()), [](const auto& all) {
  std::string name = all.param->name;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace zerotax::largecache
