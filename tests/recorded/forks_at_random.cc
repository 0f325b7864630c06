// Parent and two children write random pages that they share: forks_at_random PAGES ROUNDS SEED GIVE_BACK; with
// GIVE_BACK other than 0 the parent gives some back to the kernel after each round. What
// each fault did is known by the page's frame (as root, from /proc/self/pagemap) and the kernel's count of faults:
// before the write no page: zero-fill; another frame after it: copy; a fault and the same frame: reuse. Each process
// prints "<pid> <copies> <reuses> <zero-fills>" when it ends.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::uint64_t kFrame = (std::uint64_t{1} << 55) - 1;
char* memory = nullptr;
int pagemap = -1;
unsigned copies = 0;
unsigned reuses = 0;
unsigned zero_fills = 0;

std::uint64_t frame(std::size_t page) {
  std::uint64_t entry = 0;
  const auto at = reinterpret_cast<std::uintptr_t>(memory) / kPage + page;
  if (pread(pagemap, &entry, sizeof entry, static_cast<off_t>(at * sizeof entry)) != sizeof entry) std::exit(3);
  return entry >> 63 != 0 ? entry & kFrame : 0;
}

long faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

void write_page(std::size_t page) {
  const std::uint64_t before = frame(page);
  const long count = faults();
  *static_cast<volatile char*>(memory + page * kPage) = 1;
  if (faults() == count) return;
  if (before == 0) {
    ++zero_fills;
  } else if (frame(page) != before) {
    ++copies;
  } else {
    ++reuses;
  }
}

void write_at_random(std::mt19937& random, std::size_t pages) {
  for (std::size_t i = 0; i < pages; ++i) write_page(random() % pages);
}

void open_own_pagemap() {
  pagemap = open("/proc/self/pagemap", O_RDONLY);
  frame(0);  // what these functions touch first is touched now
  (void)faults();
}

void say() {
  char line[64];
  const int length = std::snprintf(&line[0], sizeof line, "%d %u %u %u\n", getpid(), copies, reuses, zero_fills);
  if (write(1, &line[0], static_cast<std::size_t>(length)) != length) _exit(3);
}

pid_t start_child(unsigned seed, std::size_t pages) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  copies = reuses = zero_fills = 0;
  open_own_pagemap();
  std::mt19937 random(seed);
  write_at_random(random, pages);
  say();
  _exit(0);
}

}  // namespace

int main(int count, char** words) {
  if (count < 5) return 2;
  const std::size_t pages = std::strtoul(words[1], nullptr, 10);
  const unsigned long rounds = std::strtoul(words[2], nullptr, 10);
  std::mt19937 random(static_cast<unsigned>(std::strtoul(words[3], nullptr, 10)));
  void* fixed = reinterpret_cast<void*>(0x100000000000);
  memory = static_cast<char*>(
      mmap(fixed, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
  if (memory == MAP_FAILED || madvise(memory, pages * kPage, MADV_NOHUGEPAGE) != 0) return 3;
  open_own_pagemap();
  for (unsigned long round = 0; round < rounds; ++round) {
    write_at_random(random, pages);
    const pid_t first = start_child(static_cast<unsigned>(random()), pages);
    write_at_random(random, pages / 4);
    const pid_t second = start_child(static_cast<unsigned>(random()), pages);
    write_at_random(random, pages / 2);
    for (const pid_t child : {first, second}) {
      int status = 0;
      if (waitpid(child, &status, 0) != child || status != 0) return 3;
    }
    write_at_random(random, pages / 2);
    if (words[4][0] == '0') continue;
    const std::size_t from = random() % pages;
    madvise(memory + from * kPage, (random() % (pages - from) + 1) * kPage, MADV_DONTNEED);
  }
  say();
  return 0;
}
