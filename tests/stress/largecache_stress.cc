// Eight threads that allocate, write and free, while another forks: every byte that calloc gave is read, every byte
// that a thread wrote must be there until it frees it. Prints how many bytes were found to be zero: those that were
// asked of calloc, each read (by memcmp) after the call. Pages that nobody has written cost a fault of the zero page
// when they are read, so that some GB/s is what can be checked.
//
// Usage: largecache_stress [--seconds N] [--policy NAME] [--threads N] [--bytes N]. Without a policy each that has a
// witness gets its share of the time. --bytes: goes on after the seconds until so many bytes have been read.
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "largecache_testing.h"

namespace zerotax::largecache {
namespace {

using Clock = std::chrono::steady_clock;

LargeHeap* heap = nullptr;  // of the policy whose turn it is
std::atomic<std::uint64_t> zero_bytes{0};
std::atomic<std::uint64_t> callocs{0};
std::atomic<std::uint64_t> children{0};

void Require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "largecache_stress: %s: %s\n", heap->policy().name, what);
  std::abort();
}

struct Held {
  char* start;
  std::size_t size;
  unsigned char tag;
  std::size_t stride;  // pages from one that was written to the next
};

void Write(const Held& held) {
  for (std::size_t at = 0; at < held.size; at += held.stride * kPage) {
    std::memset(held.start + at, held.tag, std::min(kPage, held.size - at));
  }
}

bool IsKept(const Held& held) {
  for (std::size_t at = 0; at < held.size; at += held.stride * kPage) {
    const std::size_t bytes = std::min(kPage, held.size - at);
    const char* const page = held.start + at;
    if (static_cast<unsigned char>(*page) != held.tag || std::memcmp(page, page + 1, bytes - 1) != 0) return false;
  }
  return true;
}

// A block of 128 KiB to 16 MiB, small ones more often; of calloc in three of four cases.
Held Allocate(std::mt19937_64& random, std::size_t most_shift) {
  const std::size_t base = std::size_t{1} << (17 + random() % (most_shift - 16));
  Held held{nullptr, base + random() % base, static_cast<unsigned char>(1 + random() % 255),
            std::size_t{1} << random() % 10};
  const bool zero = random() % 4 != 0;
  held.start = static_cast<char*>(heap->Allocate(held.size, 1, zero ? Contents::kZero : Contents::kAny));
  Require(held.start != nullptr, "no memory");
  if (zero) {
    Require(IsZero(held.start, held.size), "calloc returned a byte that is not zero");
    zero_bytes += held.size;
    ++callocs;
  }
  Write(held);
  return held;
}

void FreeAny(std::vector<Held>& blocks, std::mt19937_64& random) {
  std::swap(blocks[random() % blocks.size()], blocks.back());
  Require(IsKept(blocks.back()), "a block has not kept its bytes");
  // A program that has altered its block, or lets the kernel have its pages, now and then.
  const Held& held = blocks.back();
  switch (random() % 16) {
    case 0:
      mprotect(held.start + kPage, kPage, PROT_READ);
      break;
    case 1:
    case 2:
      madvise(held.start, held.size / kPage * kPage, MADV_FREE);
      break;
    default:
      break;
  }
  heap->Free(held.start);
  blocks.pop_back();
}

void Work(std::uint64_t seed, const std::atomic<bool>& stop) {
  std::mt19937_64 random(seed);
  std::vector<Held> blocks;
  while (!stop) {
    if (blocks.size() < 2 || (blocks.size() < 6 && random() % 2 == 0)) {
      blocks.push_back(Allocate(random, 23));
    } else {
      FreeAny(blocks, random);
    }
  }
  while (!blocks.empty()) FreeAny(blocks, random);
}

void HaveChild(std::uint64_t seed) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    std::mt19937_64 random(seed);
    for (int round = 0; round < 20; ++round) {
      const Held held = Allocate(random, 19);
      Require(IsKept(held), "a child's block has not kept its bytes");
      heap->Free(held.start);
    }
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  Require(child > 0 && status == 0, "a child failed");
  ++children;
}

void Stress(const Policy& policy, double seconds, std::size_t thread_count) {
  Settings settings = SettingsOf(policy.name);
  settings.memory_limit = std::size_t{512} << 20;
  LargeHeap mine(settings);
  heap = &mine;
  const std::uint64_t before = zero_bytes;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < thread_count; ++i) threads.emplace_back([&, i] { Work(i + before, stop); });
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  for (std::uint64_t seed = 1; Clock::now() < end; ++seed) {
    HaveChild(seed);
    usleep(20'000);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  const auto statistics = Statistics(mine);
  Require(statistics.misses + statistics.tails ==
              statistics.entries + statistics.evictions + statistics.unmapped + statistics.altered,
          "a mapping is neither cached nor gone");
  Require(statistics.in_use_bytes == 0, "bytes are in use when nothing is held");
  mine.Decay(true);
  std::printf("%s: %lu bytes found zero; %lu hits, %lu misses, %lu altered\n", policy.name, zero_bytes - before,
              statistics.hits, statistics.misses, statistics.altered);
  std::fflush(stdout);
  heap = nullptr;
}

int Main(int count, char** arguments) {
  double seconds = 60;
  std::size_t threads = 8;
  std::uint64_t bytes = 0;
  const char* only = nullptr;
  for (int i = 1; i < count; i += 2) {
    const std::string_view word = arguments[i];
    const char* const value = i + 1 < count ? arguments[i + 1] : nullptr;
    if (word == "--seconds" && value != nullptr) {
      seconds = std::atof(value);
    } else if (word == "--threads" && value != nullptr) {
      threads = std::strtoull(value, nullptr, 10);
    } else if (word == "--bytes" && value != nullptr) {
      bytes = std::strtoull(value, nullptr, 10);
    } else if (word == "--policy" && value != nullptr && FindPolicy(value) != nullptr) {
      only = value;
    } else {
      std::fprintf(stderr,
                   "largecache_stress: unusable: %s; give --seconds N, --threads N, --bytes N or --policy NAME\n",
                   arguments[i]);
      return 2;
    }
  }
  pthread_atfork([] { heap->PrepareFork(); }, [] { heap->ParentAfterFork(); }, [] { heap->ChildAfterFork(); });
  std::vector<const Policy*> policies;
  for (const Policy* const* policy = kPolicies; *policy != nullptr; ++policy) {
    if (only != nullptr ? (*policy)->name == std::string_view(only) : (*policy)->has_witness) {
      policies.push_back(*policy);
    }
  }
  do {
    for (const Policy* policy : policies) Stress(*policy, seconds / static_cast<double>(policies.size()), threads);
  } while (zero_bytes < bytes);
  std::printf("%lu bytes of %lu callocs read, and %lu children: all zero\n", zero_bytes.load(), callocs.load(),
              children.load());
  return 0;
}

}  // namespace
}  // namespace zerotax::largecache

int main(int count, char** arguments) { return zerotax::largecache::Main(count, arguments); }
