// Keeps known blocks live and frees others, then says what is resident by its own count. Usage: resident WAY FILE
// [ask]. Writes a line of JSON for each process into FILE without allocating: pages on which the program had blocks, by
// what is left on them, the bytes of its live blocks, and what the kernel says.
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>

#include "block.h"

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
const char* path = nullptr;
bool asks = false;  ///< whether the allocator is asked, which may allocate memory itself
const std::size_t page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

struct Known {
  char* begin;
  std::size_t bytes;
  bool live;
};
constexpr std::size_t kMost = 200'000;
Known known[kMost];
std::size_t known_used = 0;

void* volatile sink = nullptr;

/// Notes a block under a number of its own, so that threads can note blocks at the same time.
char* note(char* block) {
  escape(block);
  const std::size_t bytes = malloc_usable_size(block);
  std::memset(block, 1, bytes);
  known[__atomic_fetch_add(&known_used, 1, __ATOMIC_RELAXED)] = {block, bytes, true};
  return block;
}

char* got(std::size_t bytes) { return note(static_cast<char*>(std::malloc(bytes))); }

void give_back(Known& block) {
  block.live = false;
  std::free(block.begin);
}

std::size_t number_in(const char* text, const char* name) {
  const char* const line = std::strstr(text, name);
  return line == nullptr ? 0 : std::strtoull(line + std::strlen(name), nullptr, 10);
}

/// Sums a field of /proc/self/smaps in bytes.
std::size_t sum_of_smaps(const char* file, const char* name) {
  static char text[2 * kMiB];
  std::size_t used = 0;
  const int fd = open(file, O_RDONLY);
  for (ssize_t got_bytes = 0; (got_bytes = read(fd, &text[used], sizeof text - 1 - used)) > 0;)
    used += static_cast<std::size_t>(got_bytes);
  close(fd);
  text[used] = '\0';
  std::size_t sum = 0;
  for (const char* at = &text[0]; (at = std::strstr(at, name)) != nullptr; ++at) sum += number_in(at, name);
  return sum << 10;
}

struct OfAllocator {
  std::size_t in_use;
  std::size_t mapped_blocks;
};
/// Returns the bytes of blocks in use by the allocator's own count, and glibc's number of blocks in mappings of their
/// own.
OfAllocator of_allocator() {
  using Control = int (*)(const char*, void*, std::size_t*, void*, std::size_t);
  if (const auto control = reinterpret_cast<Control>(dlsym(RTLD_DEFAULT, "mallctl"))) {
    std::uint64_t epoch = 1;
    std::size_t allocated = 0;
    std::size_t bytes = sizeof allocated;
    control("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
    control("epoch", nullptr, nullptr, &epoch, sizeof epoch);
    control("stats.allocated", &allocated, &bytes, nullptr, 0);
    return {allocated, 0};
  }
  const struct mallinfo2 info = mallinfo2();
  return {info.uordblks + info.hblkhd, info.hblks};
}

/// Writes the numbers of this process.
void report(const char* name) {
  static std::uintptr_t pages[1 << 20];
  std::size_t used = 0;
  std::size_t live_bytes = 0;
  const int pagemap = open("/proc/self/pagemap", O_RDONLY);
  std::sort(&known[0], &known[known_used], [](const Known& a, const Known& b) { return a.begin < b.begin; });
  for (std::size_t i = 0; i < known_used; ++i) {
    const auto begin = reinterpret_cast<std::uintptr_t>(known[i].begin);
    if (known[i].live) live_bytes += known[i].bytes;
    for (std::uintptr_t page = begin / page_bytes; page <= (begin + known[i].bytes - 1) / page_bytes; ++page)
      pages[used++] = page << 1 | (known[i].live ? 0U : 1U);
  }
  // If a page has several blocks, a live block comes first.
  std::sort(&pages[0], &pages[used]);
  std::size_t free_pages = 0;
  std::size_t live_pages = 0;
  for (std::size_t i = 0; i < used; ++i) {
    if (i != 0 && pages[i] >> 1 == pages[i - 1] >> 1) continue;
    std::uint64_t entry = 0;
    const auto offset = static_cast<off_t>((pages[i] >> 1) * sizeof entry);
    // The recorder may have mapped shared memory where a block was. Its pages have bit 61.
    const bool resident = pread(pagemap, &entry, sizeof entry, offset) == sizeof entry && (entry >> 61 & 5) == 4;
    if (resident) ++((pages[i] & 1) != 0 ? free_pages : live_pages);
  }
  close(pagemap);
  const std::size_t lazy = sum_of_smaps("/proc/self/smaps", "LazyFree:");
  const std::size_t anonymous = sum_of_smaps("/proc/self/smaps_rollup", "Anonymous:");
  const auto [in_use, own_blocks] = asks ? of_allocator() : OfAllocator{};
  char line[400];
  const int length = std::snprintf(
      &line[0], sizeof line,
      "{\"name\": \"%s\", \"pid\": %d, \"free\": %zu, \"on_live_pages\": %zu, \"live\": %zu, \"lazy\": %zu, "
      "\"anonymous\": %zu, \"in_use\": %zu, \"mapped_blocks\": %zu}\n",
      name, getpid(), free_pages * page_bytes, live_pages * page_bytes, live_bytes, lazy, anonymous, in_use,
      own_blocks);
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (write(fd, &line[0], static_cast<std::size_t>(length)) != length) _exit(3);
  close(fd);
}

[[gnu::noinline]] void allocate_freed() {
  for (int i = 0; i < 10'000; ++i) got(1000);
}
[[gnu::noinline]] void allocate_pin() { got(25); }

void pinned() {
  got(40);
  allocate_freed();
  allocate_pin();
  for (std::size_t i = 1; i + 1 < known_used; ++i) give_back(known[i]);
}

/// Blocks of 16 bytes to 256 KiB, of which two thirds are freed.
void mix(std::uint64_t seed) {
  constexpr std::size_t kBlocks = 3000;
  std::uint64_t number = seed;
  const auto next = [&](std::uint64_t below) {
    number = number * 6364136223846793005U + 1442695040888963407U;
    return (number >> 33) % below;
  };
  std::size_t own[kBlocks];
  for (std::size_t& index : own) {
    const std::size_t bytes = 16 + next(std::uint64_t{1} << (4 + next(15)));
    auto* const block = static_cast<char*>(next(3) == 0 ? std::calloc(1, bytes) : std::malloc(bytes));
    index = __atomic_fetch_add(&known_used, 1, __ATOMIC_RELAXED);
    escape(block);
    known[index] = {block, malloc_usable_size(block), true};
    std::memset(block, 1, known[index].bytes);
  }
  for (const std::size_t index : own) {
    if (next(3) != 0) give_back(known[index]);
  }
}

void mixed() { mix(42); }

/// Lets jemalloc's decay pass.
void decayed() {
  mix(42);
  for (int i = 0; i < 50; ++i) {
    usleep(10'000);
    for (int k = 0; k < 100; ++k) std::free(got(40'000));
    known_used -= 100;
  }
}

/// Threads that wait for the report before they end.
void threads() {
  constexpr unsigned kThreads = 4;
  static pthread_barrier_t done;
  static pthread_barrier_t reported;
  pthread_barrier_init(&done, nullptr, kThreads + 1);
  pthread_barrier_init(&reported, nullptr, kThreads + 1);
  pthread_t all[kThreads];
  for (std::uintptr_t i = 0; i < kThreads; ++i) {
    pthread_create(
        &all[i], nullptr,
        [](void* seed) -> void* {
          mix(reinterpret_cast<std::uintptr_t>(seed));
          pthread_barrier_wait(&done);
          pthread_barrier_wait(&reported);
          return nullptr;
        },
        reinterpret_cast<void*>(i));
  }
  pthread_barrier_wait(&done);
  report("threads");
  _exit(0);
}

/// A thread that allocates and frees without end.
void* churn(void* /*unused*/) {
  for (std::size_t i = 0;; ++i) {
    void* const block = std::malloc(16 + i % 3000);
    escape(block);
    std::free(block);
  }
}

/// Forks; the child frees some of its parent's blocks and allocates its own.
void forked() {
  mix(1);
  const pid_t child = fork();
  if (child == 0) {
    for (std::size_t i = 0; i < known_used; i += 5) {
      if (known[i].live) give_back(known[i]);
    }
    mix(2);
    report("child");
    _exit(0);
  }
  mix(3);
  waitpid(child, nullptr, 0);
}

void forks_beside_thread() {
  pthread_t thread;
  pthread_create(&thread, nullptr, churn, nullptr);
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      for (int k = 0; k < 100; ++k) got(500);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
}

/// Eight threads that cycle buffers of 11.7 MB, and then sleep.
void buffers() {
  pthread_t all[8];
  for (pthread_t& thread : all) {
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          for (int i = 0; i < 50; ++i) {
            auto* const block = static_cast<char*>(std::malloc(11'700'000));
            escape(block);
            std::memset(block, 1, 11'700'000);
            std::free(block);
          }
          return nullptr;
        },
        nullptr);
  }
  for (const pthread_t thread : all) pthread_join(thread, nullptr);
  sleep(3);
}

/// Holds 40 MiB, returns it, and ends with 8 MiB.
void peak() {
  got(40 * kMiB);
  give_back(known[0]);
  got(8 * kMiB);
}

/// Many large blocks come and go in several threads until the parent kills zerotax or the time is over.
void busy() {
  for (const std::time_t end = time(nullptr) + 4; time(nullptr) < end;) {
    for (std::size_t i = 1; i <= 10; ++i) {
      void* const block = std::malloc(i * kMiB);
      escape(block);
      std::memset(block, 1, i * kMiB);
      std::free(block);
    }
  }
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  asks = count > 3;
  path = words[2];
  constexpr struct {
    const char* name;
    void (*run)();
  } kWays[] = {{"pinned", pinned},   {"mixed", mixed},   {"decayed", decayed},
               {"threads", threads}, {"forked", forked}, {"churn", forks_beside_thread},
               {"buffers", buffers}, {"peak", peak},     {"busy", busy}};
  for (const auto& way : kWays) {
    if (std::strcmp(words[1], way.name) == 0) way.run();
  }
  if (std::strcmp(words[1], "killed") == 0) {
    mixed();
    sleep(3);
    raise(SIGKILL);
  }
  if (std::strcmp(words[1], "exec") == 0) {
    mixed();
    report("exec");
    execl(words[0], words[0], "pinned", path, nullptr);
  }
  report(words[1]);
  // The program's destructors and the C library's free nothing.
  return 0;
}
