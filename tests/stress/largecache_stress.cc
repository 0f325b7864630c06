// Eight threads allocate, write and free, while another thread forks. The program reads every byte that calloc
// returned. It also checks that every byte that a thread wrote keeps its value until the block is freed. At the end,
// the program prints how many bytes from calloc it found to be zero (by memcmp). Reading an unwritten page takes a
// fault of the zero page, which limits the check to some GB/s. Usage: largecache_stress [--seconds N] [--policy NAME]
// [--threads N] [--bytes N]. Without --policy, each policy with a witness gets a share of the time. With --bytes, the
// program continues after these seconds until that many bytes have been read.
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

LargeHeap* heap = nullptr;  // heap of the current policy
std::atomic<std::uint64_t> zero_bytes{0};
std::atomic<std::uint64_t> callocs{0};
std::atomic<std::uint64_t> children{0};

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "largecache_stress: %s: %s\n", heap->policy().name, what);
  std::abort();
}

struct Held {
  char* start;
  std::size_t size;
  unsigned char tag;
  std::size_t stride;  // pages between one written page and the next
};

void write_tags(const Held& held) {
  for (std::size_t at = 0; at < held.size; at += held.stride * kPage) {
    std::memset(held.start + at, held.tag, std::min(kPage, held.size - at));
  }
}

bool is_kept(const Held& held) {
  for (std::size_t at = 0; at < held.size; at += held.stride * kPage) {
    const std::size_t bytes = std::min(kPage, held.size - at);
    const char* const page = held.start + at;
    if (static_cast<unsigned char>(*page) != held.tag || std::memcmp(page, page + 1, bytes - 1) != 0) return false;
  }
  return true;
}

// Allocates a block of 128 KiB to 16 MiB. Small blocks are more frequent. Three of four blocks come from calloc.
Held allocate(std::mt19937_64& random, std::size_t most_shift) {
  const std::size_t base = std::size_t{1} << (17 + random() % (most_shift - 16));
  Held held{nullptr, base + random() % base, static_cast<unsigned char>(1 + random() % 255),
            std::size_t{1} << random() % 10};
  const bool zero = random() % 4 != 0;
  held.start = static_cast<char*>(heap->allocate(held.size, 1, zero ? Contents::kZero : Contents::kAny));
  require(held.start != nullptr, "no memory");
  if (zero) {
    require(is_zero(held.start, held.size), "calloc returned a byte that is not zero");
    zero_bytes += held.size;
    ++callocs;
  }
  write_tags(held);
  return held;
}

void free_any(std::vector<Held>& blocks, std::mt19937_64& random) {
  std::swap(blocks[random() % blocks.size()], blocks.back());
  require(is_kept(blocks.back()), "a block has not kept its bytes");
  // In some rounds, the program alters its block's mapping, or offers the block's pages to the kernel.
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
  heap->deallocate(held.start);
  blocks.pop_back();
}

void work(std::uint64_t seed, const std::atomic<bool>& stop) {
  std::mt19937_64 random(seed);
  std::vector<Held> blocks;
  while (!stop) {
    if (blocks.size() < 2 || (blocks.size() < 6 && random() % 2 == 0)) {
      blocks.push_back(allocate(random, 23));
    } else {
      free_any(blocks, random);
    }
  }
  while (!blocks.empty()) free_any(blocks, random);
}

void have_child(std::uint64_t seed) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    std::mt19937_64 random(seed);
    for (int round = 0; round < 20; ++round) {
      const Held held = allocate(random, 19);
      require(is_kept(held), "a child's block has not kept its bytes");
      heap->deallocate(held.start);
    }
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  require(child > 0 && status == 0, "a child failed");
  ++children;
}

void stress(const Policy& policy, double seconds, std::size_t thread_count) {
  Settings settings = settings_of(policy.name);
  settings.memory_limit = std::size_t{512} << 20;
  LargeHeap mine(settings);
  heap = &mine;
  const std::uint64_t before = zero_bytes;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < thread_count; ++i) threads.emplace_back([&, i] { work(i + before, stop); });
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  for (std::uint64_t seed = 1; Clock::now() < end; ++seed) {
    have_child(seed);
    usleep(20'000);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  const auto statistics = statistics_of(mine);
  require(statistics.misses + statistics.tails ==
              statistics.entries + statistics.evictions + statistics.unmapped + statistics.altered,
          "a mapping is neither cached nor gone");
  require(statistics.in_use_bytes == 0, "bytes are in use when nothing is held");
  mine.decay(true);
  std::printf("%s: %lu bytes found zero; %lu hits, %lu misses, %lu altered\n", policy.name, zero_bytes - before,
              statistics.hits, statistics.misses, statistics.altered);
  std::fflush(stdout);
  heap = nullptr;
}

int run_all(int count, char** arguments) {
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
    } else if (word == "--policy" && value != nullptr && find_policy(value) != nullptr) {
      only = value;
    } else {
      std::fprintf(stderr,
                   "largecache_stress: unusable: %s; give --seconds N, --threads N, --bytes N or --policy NAME\n",
                   arguments[i]);
      return 2;
    }
  }
  pthread_atfork([] { heap->prepare_fork(); }, [] { heap->parent_after_fork(); }, [] { heap->child_after_fork(); });
  std::vector<const Policy*> policies;
  for (const Policy* const* policy = kPolicies; *policy != nullptr; ++policy) {
    if (only != nullptr ? (*policy)->name == std::string_view(only) : (*policy)->has_witness) {
      policies.push_back(*policy);
    }
  }
  do {
    for (const Policy* policy : policies) stress(*policy, seconds / static_cast<double>(policies.size()), threads);
  } while (zero_bytes < bytes);
  std::printf("%lu bytes of %lu callocs read, and %lu children: all zero\n", zero_bytes.load(), callocs.load(),
              children.load());
  return 0;
}

}  // namespace
}  // namespace zerotax::largecache

int main(int count, char** arguments) { return zerotax::largecache::run_all(count, arguments); }
