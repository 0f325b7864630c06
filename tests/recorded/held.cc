// A parent writes pages that its child has given up, and that are held all the same: held pipe (16 pages that lie in a
// pipe; the child has ended), held base or held huge (512 pages, base pages or one huge page; the child has unmapped
// all but the first one), held none (16 pages; the child has ended).
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

namespace {

constexpr std::size_t kPage = 4096;

void write_pages(char* memory, std::size_t count, char value) {
  for (std::size_t i = 0; i < count; ++i) *static_cast<volatile char*>(memory + i * kPage) = value;
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  const bool in_pipe = std::strcmp(words[1], "pipe") == 0;
  const bool huge = std::strcmp(words[1], "huge") == 0;
  const bool unmaps = huge || std::strcmp(words[1], "base") == 0;
  const std::size_t pages = unmaps ? 512 : 16;
  // A page that was written on another CPU is held by that CPU's list for a while, and copied for that alone.
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &cpus);
  if (sched_setaffinity(0, sizeof cpus, &cpus) != 0) return 3;

  void* fixed = reinterpret_cast<void*>(0x100000000000);
  auto* memory = static_cast<char*>(
      mmap(fixed, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
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
