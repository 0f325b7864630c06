// Writes pages that are shared with a child. Usage: forks PAGES CHILD BOTH AFTER [SECONDS]. First, the parent writes
// PAGES pages at a fixed address. A child writes the first CHILD of these pages while the parent waits. Then the parent
// writes the next BOTH pages, and the child reads /dev/zero into the last page. After the child's end, the parent
// writes the next AFTER pages, and the pages that the child had written. With SECONDS, the child writes one more page
// in each second.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace {

const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
char* memory = nullptr;

void write_pages(std::size_t from, std::size_t count, char value) {
  for (std::size_t i = from; i < from + count; ++i) *static_cast<volatile char*>(memory + i * kPage) = value;
}

std::size_t number(char** words, int index) { return std::strtoul(words[index], nullptr, 10); }

}  // namespace

int main(int count, char** words) {
  if (count < 5) return 2;
  const std::size_t pages = number(words, 1);
  const std::size_t child = number(words, 2);
  const std::size_t both = number(words, 3);
  const std::size_t after = number(words, 4);
  const std::size_t seconds = count > 5 ? number(words, 5) : 0;
  // A page that was written on another CPU stays in that CPU's list of new pages for a while, and is copied for this
  // reason alone.
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &cpus);
  if (sched_setaffinity(0, sizeof cpus, &cpus) != 0) return 3;

  void* fixed = reinterpret_cast<void*>(0x100000000000);
  memory = static_cast<char*>(
      mmap(fixed, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
  if (memory == MAP_FAILED || madvise(memory, pages * kPage, MADV_NOHUGEPAGE) != 0) return 3;
  write_pages(0, pages, 1);

  int to_parent[2];
  int to_child[2];
  char word = 0;
  if (pipe(to_parent) != 0 || pipe(to_child) != 0) return 3;
  const pid_t pid = fork();
  if (pid == 0) {
    write_pages(0, child, 2);
    for (std::size_t i = 0; i < seconds; ++i) {
      sleep(1);
      write_pages(child + both + after + i, 1, 2);
    }
    const int zero = open("/dev/zero", O_RDONLY);
    if (read(zero, memory + (pages - 1) * kPage, kPage) != static_cast<ssize_t>(kPage)) _exit(3);
    if (write(to_parent[1], &word, 1) != 1 || read(to_child[0], &word, 1) != 1) _exit(3);
    _exit(0);
  }
  if (read(to_parent[0], &word, 1) != 1) return 3;
  write_pages(child, both, 3);
  if (write(to_child[1], &word, 1) != 1) return 3;
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || status != 0) return 3;
  write_pages(child + both, after, 4);
  write_pages(0, child, 4);
  return 0;
}
