// Helpers of largecache's hard cases. A block with a history is dirtied, mistreated, freed, and allocated again.
#ifndef ZEROTAX_TESTS_UNIT_LARGECACHE_HARD_TESTING_H_
#define ZEROTAX_TESTS_UNIT_LARGECACHE_HARD_TESTING_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <ostream>
#include <string>

#include "largecache_testing.h"

namespace zerotax::largecache {

/// A policy, and the history of the block. The history decides how `adaptive` clears the block.
struct Way {
  const char* policy;
  const char* past;  // "new", "full" (all pages touched in each of 40 rounds, so that the block is cleared whole) or
                     // "idle" (no page touched, so that the block is purged)
};
inline constexpr Way kWays[] = {{"memset", "new"},   {"purge", "new"},     {"dirty", "new"},
                                {"adaptive", "new"}, {"adaptive", "full"}, {"adaptive", "idle"}};
inline void PrintTo(const Way& way, std::ostream* out) { *out << way.policy << ", " << way.past; }
inline std::string name_of(const Way& way) { return std::string(way.policy) + "_" + way.past; }

inline const auto kName = [](const auto& all) { return name_of(all.param); };

/// Runs `body` in a child and returns the child's exit status, or 128 plus the signal that ended it.
template <typename Body>
int status_of_child(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(25);  // a deadlock ends the child, not the test run
    _exit(static_cast<int>(body()));
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
enum Verdict { kGood = 0, kImpossibleHere = 77 };

/// Whether this kernel reports populated pages (PAGEMAP_SCAN, since Linux 6.7). On a kernel without this call, the
/// ioctl fails with ENOTTY.
inline bool kernel_tells() {
  const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  const bool tells = ioctl(file, _IOWR('f', 16, char[96]), nullptr) != 0 && errno == EFAULT;
  if (file >= 0) close(file);
  return tells;
}

/// Whether calloc looks at the pages of a block with this policy and history.
inline bool looks(const Way& way) {
  const std::string policy = way.policy;
  return kernel_tells() && (policy == "dirty" || (policy == "adaptive" && std::string(way.past) == "new"));
}

/// Checks a block that calloc returned. Returns the problem, or "".
inline std::string wrong_with(char* block, std::size_t size) {
  if (block == nullptr) return "no block";
  if (!is_zero(block, size)) return "a byte is not zero";
  std::memset(block, 0x5a, size);
  const pid_t child = fork();
  if (child == 0) {
    std::memset(block, 0x77, size);
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  if (status != 0) return "a child cannot write to it";
  return all_bytes(block, size, 0x5a) ? "" : "the bytes written are gone, or a child's bytes are there";
}

/// A heap of one policy, and the history of its blocks.
class HardHeap {
 public:
  explicit HardHeap(const Way& way) : heap_(settings_of(way.policy)), past_(way.past) {}
  ~HardHeap() { heap_.decay(true); }
  HardHeap(const HardHeap&) = delete;
  HardHeap& operator=(const HardHeap&) = delete;

  char* calloc(std::size_t size) { return static_cast<char*>(heap_.allocate(size, 1, Contents::kZero)); }
  void deallocate(void* block) { heap_.deallocate(block); }
  struct largecache_statistics counters() {
    return statistics_of(heap_);
  }
  LargeHeap& heap() { return heap_; }

  /// Returns a block with the history that the constructor was given. The block contains the bytes that calloc
  /// returned.
  char* block_with_past(std::size_t size) {
    if (past_ != "new") {
      for (int round = 0; round < 40; ++round) {
        char* const block = calloc(size);
        if (past_ == "full") std::memset(block, 1, size);
        deallocate(block);
      }
    }
    return calloc(size);
  }
  /// Returns a block with this history, and 0xab in every byte.
  char* dirty_block(std::size_t size) {
    char* const block = block_with_past(size);
    std::memset(block, 0xab, size);
    return block;
  }

  /// Frees the block, then allocates and frees a block of this size four times. Returns the problem, or "".
  std::string reuse_of(char* block, std::size_t size) {
    deallocate(block);
    for (int round = 0; round < 4; ++round) {
      char* const again = calloc(size);
      if (round == 0) after_ = counters();
      const std::string wrong = wrong_with(again, size);
      if (!wrong.empty()) return wrong + " in round " + std::to_string(round);
      deallocate(again);
    }
    return "";
  }
  /// The counters after the first calloc of reuse_of().
  [[nodiscard]] const struct largecache_statistics& after() const { return after_; }

 private:
  LargeHeap heap_;
  std::string past_;
  struct largecache_statistics after_ {};
};

inline constexpr const char* kImpossible = "impossible here: ";

/// Runs `body` in a child, because `body` damages its process. The test passes if `body` returns "", and is skipped if
/// the text begins with kImpossible.
#define EXPECT_GOOD_IN_CHILD(...)                                                              \
  switch (const int status = status_of_child([&] { return tell((__VA_ARGS__)()); }); status) { \
    case kGood:                                                                                \
      break;                                                                                   \
    case kImpossibleHere:                                                                      \
      GTEST_SKIP() << "impossible here";                                                       \
    default:                                                                                   \
      ADD_FAILURE() << "status " << status;                                                    \
  }

inline int tell(const std::string& said) {
  if (!said.empty()) std::cerr << said << '\n';
  return said.starts_with(kImpossible) ? +kImpossibleHere : said.empty() ? +kGood : 1;
}

/// In each of `rounds` rounds, writes to one page of a block, frees the block and allocates it again.
inline std::string one_dirty_page(HardHeap& heap, int rounds = 4) {
  constexpr std::size_t kSize = kMiB;
  for (int round = 0; round < rounds; ++round) {
    char* const block = heap.calloc(kSize);
    if (block == nullptr) return "no block";
    if (!is_zero(block, kSize)) return "a byte is not zero in round " + std::to_string(round);
    block[(static_cast<std::size_t>(round) * 37 % (kSize / kPage)) * kPage + kPage - 1] = 1;
    heap.deallocate(block);
  }
  return "";
}

}  // namespace zerotax::largecache

#endif  // ZEROTAX_TESTS_UNIT_LARGECACHE_HARD_TESTING_H_
