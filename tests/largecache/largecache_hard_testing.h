// What the hard cases of largecache share: a block with a past, made dirty, mistreated, freed, and asked for again.
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

/// A policy, and what the program had done with the block before: it decides how `adaptive` clears it.
struct Way {
  const char* policy;
  const char* past;  // "new"; "full": all pages touched in each of 40 rounds (cleared whole); "idle": none (purged)
};
inline constexpr Way kWays[] = {{"memset", "new"},   {"purge", "new"},     {"dirty", "new"},
                                {"adaptive", "new"}, {"adaptive", "full"}, {"adaptive", "idle"}};
inline void PrintTo(const Way& way, std::ostream* out) { *out << way.policy << ", " << way.past; }
inline std::string NameOf(const Way& way) { return std::string(way.policy) + "_" + way.past; }

/// Exit status of a child that runs `body`, which returns whether all went well; 2 of a body: cannot be tried here.
template <typename Body>
int StatusOfChild(const Body& body) {
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

/// Does this kernel say which pages are there (PAGEMAP_SCAN, Linux 6.7)? One that does not know the call says ENOTTY.
inline bool KernelTells() {
  const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  const bool tells = ioctl(file, _IOWR('f', 16, char[96]), nullptr) != 0 && errno == EFAULT;
  if (file >= 0) close(file);
  return tells;
}

/// Does calloc look at the pages, going this way?
inline bool Looks(const Way& way) {
  const std::string policy = way.policy;
  return KernelTells() && (policy == "dirty" || (policy == "adaptive" && std::string(way.past) == "new"));
}

/// Which is wrong with a block that calloc gave: nothing (""), or what.
inline std::string WrongWith(char* block, std::size_t size) {
  if (block == nullptr) return "no block";
  if (!IsZero(block, size)) return "a byte is not zero";
  std::memset(block, 0x5a, size);
  const pid_t child = fork();
  if (child == 0) {
    std::memset(block, 0x77, size);
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  if (status != 0) return "a child cannot write to it";
  return AllBytes(block, size, 0x5a) ? "" : "what was written is not there, or a child's bytes are";
}

/// A heap of one policy.
class HardHeap {
 public:
  explicit HardHeap(const Way& way) : heap_(SettingsOf(way.policy)), past_(way.past) {}
  ~HardHeap() { heap_.Decay(true); }
  HardHeap(const HardHeap&) = delete;
  HardHeap& operator=(const HardHeap&) = delete;

  char* Calloc(std::size_t size) { return static_cast<char*>(heap_.Allocate(size, 1, Contents::kZero)); }
  void Free(void* block) { heap_.Free(block); }
  struct largecache_statistics Counters() {
    return Statistics(heap_);
  }
  LargeHeap& heap() { return heap_; }

  /// A block with the past of the way; as calloc gave it.
  char* Block(std::size_t size) {
    if (past_ != "new") {
      for (int round = 0; round < 40; ++round) {
        char* const block = Calloc(size);
        if (past_ == "full") std::memset(block, 1, size);
        Free(block);
      }
    }
    return Calloc(size);
  }
  /// The same, every byte 0xab.
  char* DirtyBlock(std::size_t size) {
    char* const block = Block(size);
    std::memset(block, 0xab, size);
    return block;
  }

  /// Frees the block and asks for as much again, and some times more; what is wrong with what comes, or "".
  std::string ReuseOf(char* block, std::size_t size) {
    Free(block);
    for (int round = 0; round < 4; ++round) {
      char* const again = Calloc(size);
      if (round == 0) after_ = Counters();
      const std::string wrong = WrongWith(again, size);
      if (!wrong.empty()) return wrong + " in round " + std::to_string(round);
      Free(again);
    }
    return "";
  }
  /// The counters as they were when the first of these had come.
  [[nodiscard]] const struct largecache_statistics& after() const { return after_; }

 private:
  LargeHeap heap_;
  std::string past_;
  struct largecache_statistics after_ {};
};

inline constexpr const char* kImpossible = "impossible here: ";

/// Runs `body` in a child, as it spoils the process: "" is good; what begins with kImpossible skips the test.
#define EXPECT_GOOD_IN_CHILD(...)                                                            \
  switch (const int status = StatusOfChild([&] { return Tell((__VA_ARGS__)()); }); status) { \
    case kGood:                                                                              \
      break;                                                                                 \
    case kImpossibleHere:                                                                    \
      GTEST_SKIP() << "impossible here";                                                     \
    default:                                                                                 \
      ADD_FAILURE() << "status " << status;                                                  \
  }

inline int Tell(const std::string& said) {
  if (!said.empty()) std::cerr << said << '\n';
  return said.starts_with(kImpossible) ? +kImpossibleHere : said.empty() ? +kGood : 1;
}

/// Writes to one page of a block, frees it and asks for it again, as often as `rounds` says.
inline std::string OneDirtyPage(HardHeap& heap, int rounds = 4) {
  constexpr std::size_t kSize = kMiB;
  for (int round = 0; round < rounds; ++round) {
    char* const block = heap.Calloc(kSize);
    if (block == nullptr) return "no block";
    if (!IsZero(block, kSize)) return "a byte is not zero in round " + std::to_string(round);
    block[(static_cast<std::size_t>(round) * 37 % 256) * kPage + 4095] = 1;
    heap.Free(block);
  }
  return "";
}

}  // namespace zerotax::largecache

#endif  // ZEROTAX_TESTS_UNIT_LARGECACHE_HARD_TESTING_H_
