// A parent writes pages that its child has given up, although something still holds the pages. Usage: held HOW.
// `pipe`: 16 pages that lie in a pipe; the child has ended.
// `base`, `huge`: 512 pages, as base pages or one huge page; the child has unmapped all but the first page.
// `none`: 16 pages; the child has ended.
// `cpu`: 16 pages, written on the first CPU. The child begins and ends on the second CPU, where the pages are written
// again. This is repeated until a page is copied.
// At the end, prints "<zero-fills> <copies> <reuses>" of these pages by their frames (as root). The status is 4 on a
// machine with one CPU.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
constexpr int kOneCpu = 4;
void* const kFixed = reinterpret_cast<void*>(0x100000000000);

void write_pages(char* memory, std::size_t count, char value) {
  for (std::size_t i = 0; i < count; ++i) *static_cast<volatile char*>(memory + i * kPage) = value;
}

bool move_to(std::size_t cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(cpu, &cpus);
  return sched_setaffinity(0, sizeof cpus, &cpus) == 0;
}

std::uint64_t frame(int pagemap, const char* page) {
  std::uint64_t entry = 0;
  const auto at = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(page) / kPage * sizeof entry);
  return pread(pagemap, &entry, sizeof entry, at) == sizeof entry ? entry & ((std::uint64_t{1} << 55) - 1) : 0;
}

/// If pages were written on another CPU, that CPU's list of new pages holds them until the list is full or emptied
/// (folio_batch in mm/swap.c). A few of these pages are copied, although no process shares them any more.
int written_on_another_cpu() {
  constexpr std::size_t kPages = 16;
  constexpr std::size_t kTimes = 200;
  cpu_set_t allowed;
  std::size_t cpus[2]{};
  std::size_t found = 0;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 3;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE && found < 2; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) cpus[found++] = cpu;
  }
  if (found < 2) return kOneCpu;
  const int pagemap = open("/proc/self/pagemap", O_RDONLY);
  const std::size_t bytes = kTimes * kPages * kPage;
  auto* memory = static_cast<char*>(
      mmap(kFixed, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
  if (memory == MAP_FAILED || madvise(memory, bytes, MADV_NOHUGEPAGE) != 0) return 3;
  unsigned written = 0;
  unsigned copies = 0;
  for (std::size_t i = 0; i < kTimes && copies == 0; ++i) {
    char* pages = memory + i * kPages * kPage;
    if (!move_to(cpus[0])) return 3;
    write_pages(pages, kPages, 1);
    if (!move_to(cpus[1])) return 3;
    const pid_t pid = fork();
    if (pid == 0) _exit(0);
    int status = 0;
    if (waitpid(pid, &status, 0) != pid || status != 0) return 3;
    std::uint64_t before[kPages];
    for (std::size_t page = 0; page < kPages; ++page) before[page] = frame(pagemap, pages + page * kPage);
    write_pages(pages, kPages, 2);
    written += kPages;
    for (std::size_t page = 0; page < kPages; ++page) copies += frame(pagemap, pages + page * kPage) != before[page];
  }
  std::printf("%u %u %u\n", written, copies, written - copies);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  if (std::strcmp(words[1], "cpu") == 0) return written_on_another_cpu();
  const bool in_pipe = std::strcmp(words[1], "pipe") == 0;
  const bool huge = std::strcmp(words[1], "huge") == 0;
  const bool unmaps = huge || std::strcmp(words[1], "base") == 0;
  const std::size_t pages = unmaps ? 512 : 16;
  // A page that was written on another CPU stays in that CPU's list of new pages for a while, and is copied for this
  // reason alone.
  if (!move_to(static_cast<std::size_t>(sched_getcpu()))) return 3;
  auto* memory = static_cast<char*>(
      mmap(kFixed, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
  if (memory == MAP_FAILED || madvise(memory, pages * kPage, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) != 0) return 3;
  write_pages(memory, pages, 1);
  int ends[2];
  int ready[2];
  int done[2];
  if (pipe(ends) != 0 || pipe(ready) != 0 || pipe(done) != 0) return 3;
  const iovec part{memory, pages * kPage};
  if (in_pipe && vmsplice(ends[1], &part, 1, 0) != static_cast<ssize_t>(pages * kPage)) return 3;
  char word = 0;
  const pid_t pid = fork();
  if (pid == 0) {
    if (!unmaps) _exit(0);
    if (munmap(memory + kPage, (pages - 1) * kPage) != 0) _exit(3);
    if (write(ready[1], &word, 1) != 1 || read(done[0], &word, 1) != 1) _exit(3);
    _exit(0);
  }
  int status = 0;
  if (unmaps ? read(ready[0], &word, 1) != 1 : waitpid(pid, &status, 0) != pid) return 3;
  write_pages(memory, pages, 2);
  if (unmaps && (write(done[1], &word, 1) != 1 || waitpid(pid, &status, 0) != pid)) return 3;
  return status != 0 ? 3 : 0;
}
