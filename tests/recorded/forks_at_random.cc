// A parent and two children write random pages that they share. Usage: forks_at_random PAGES ROUNDS SEED GIVE_BACK
// HUGE. HUGE huge pages are followed by PAGES base pages. If GIVE_BACK is not 0, the parent returns some base pages and
// one whole huge page to the kernel after each round. The effect of each fault is known from the page's frame (as root,
// from /proc/self/pagemap) and the kernel's count of faults. Zero-fill: no page before the write. Copy: another frame
// after the write. Reuse: a fault and the same frame. Each process prints "<pid> <copies> <reuses> <zero-fills> <of
// them huge> <taken again>" when it ends.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace {

const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
constexpr std::size_t kHuge = 512;  ///< pages
constexpr std::uint64_t kFrame = (std::uint64_t{1} << 55) - 1;
char* memory = nullptr;
int pagemap = -1;

/// All data that the kernel writes for its answers lies in one page, because a fork also write-protects this page. The
/// resulting fault must not come between counting the faults and printing the count. No machine has pages of more than
/// 64 KiB.
struct alignas(65536) Looks {
  std::uint64_t entry;
  rusage usage;
  unsigned copies;
  unsigned reuses;
  unsigned zero_fills;
  unsigned huge;
  unsigned again;
} looks;

std::uint64_t frame(std::size_t page) {
  const auto at = reinterpret_cast<std::uintptr_t>(memory) / kPage + page;
  if (pread(pagemap, &looks.entry, sizeof looks.entry, static_cast<off_t>(at * sizeof looks.entry)) !=
      sizeof looks.entry) {
    std::exit(3);
  }
  return looks.entry >> 63 != 0 ? looks.entry & kFrame : 0;
}

long faults() {
  getrusage(RUSAGE_SELF, &looks.usage);
  return looks.usage.ru_minflt;
}

/// After a fork, writes to the pages that the measurement itself writes to. Otherwise, the faults in these pages may
/// fall between two counts. One of the pages contains the thread's rseq area, to which the kernel writes when it moves
/// the thread to another CPU.
void touch() {
  auto* area = reinterpret_cast<struct rseq*>(static_cast<char*>(__builtin_thread_pointer()) + __rseq_offset);
  *const_cast<volatile std::uint32_t*>(&area->flags) = 0;
  frame(0);
  (void)faults();
}

void write_page(std::size_t page) {
  const std::uint64_t before = frame(page);
  const bool neighbour = before != 0 || frame(page ^ 1) != 0;
  const long count = faults();
  *static_cast<volatile char*>(memory + page * kPage) = 1;
  const long taken = faults() - count;
  if (taken == 0) return;
  // During a fault, the kernel may find that the page has changed (for example, its age was reset). The kernel then
  // undoes its work, and the fault is taken again. For such a write, only the final effect is known.
  looks.again += static_cast<unsigned>(taken - 1);
  if (before == 0) {
    ++looks.zero_fills;
    if (!neighbour && frame(page ^ 1) != 0) ++looks.huge;
  } else if (frame(page) != before) {
    ++looks.copies;
  } else {
    ++looks.reuses;
  }
}

void write_at_random(std::mt19937& random, std::size_t pages, std::size_t times) {
  for (std::size_t i = 0; i < times; ++i) write_page(random() % pages);
}

void open_own_pagemap() {
  pagemap = open("/proc/self/pagemap", O_RDONLY);
  touch();
}

void say() {
  char line[80];
  const int length = std::snprintf(&line[0], sizeof line, "%d %u %u %u %u %u\n", getpid(), looks.copies, looks.reuses,
                                   looks.zero_fills, looks.huge, looks.again);
  if (write(1, &line[0], static_cast<std::size_t>(length)) != length) _exit(3);
}

pid_t start_child(unsigned seed, std::size_t pages) {
  const pid_t pid = fork();
  if (pid != 0) {
    touch();
    return pid;
  }
  looks = {};
  open_own_pagemap();
  std::mt19937 random(seed);
  write_at_random(random, pages, pages);
  say();
  _exit(0);
}

}  // namespace

int main(int count, char** words) {
  if (count < 6) return 2;
  const std::size_t base = std::strtoul(words[1], nullptr, 10);
  const unsigned long rounds = std::strtoul(words[2], nullptr, 10);
  std::mt19937 random(static_cast<unsigned>(std::strtoul(words[3], nullptr, 10)));
  const std::size_t huge = std::strtoul(words[5], nullptr, 10);
  const std::size_t pages = huge * kHuge + base;
  if (pages == 0) return 2;
  void* fixed = reinterpret_cast<void*>(0x100000000000);
  memory = static_cast<char*>(
      mmap(fixed, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
  if (memory == MAP_FAILED || madvise(memory + huge * kHuge * kPage, base * kPage, MADV_NOHUGEPAGE) != 0) return 3;
  if (huge > 0) madvise(memory, huge * kHuge * kPage, MADV_HUGEPAGE);
  open_own_pagemap();
  for (unsigned long round = 0; round < rounds; ++round) {
    write_at_random(random, pages, pages);
    const pid_t first = start_child(static_cast<unsigned>(random()), pages);
    write_at_random(random, pages, pages / 4);
    const pid_t second = start_child(static_cast<unsigned>(random()), pages);
    write_at_random(random, pages, pages / 2);
    for (const pid_t child : {first, second}) {
      int status = 0;
      if (waitpid(child, &status, 0) != child || status != 0) return 3;
    }
    write_at_random(random, pages, pages / 2);
    if (words[4][0] == '0') continue;
    const std::size_t from = random() % pages;
    madvise(memory + from * kPage, (random() % (pages - from) + 1) * kPage, MADV_DONTNEED);
    if (huge > 0) madvise(memory + random() % huge * kHuge * kPage, kHuge * kPage, MADV_DONTNEED);
  }
  say();
  return 0;
}
