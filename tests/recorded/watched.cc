/// usage: watched refill|grow|forks|crowd|name NUMBER [NAME]
/// Prints "started". For each line that the program reads, the program does its work and prints the number of minor
/// faults during this work. The numbers are those of the process itself, and of its children, by getrusage(2).
/// `refill`: returns NUMBER pages, and writes to these pages again.
/// `grow`: writes to NUMBER new pages.
/// `forks`: forks NUMBER children, one after the other, each of which writes to 20 pages.
/// `crowd`: forks NUMBER children that sleep until the end.
/// `name`: takes the name NAME, and only sleeps.
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
constexpr std::size_t kPagesOfChild = 20;

char* map(std::size_t pages) {
  void* memory = ::mmap(nullptr, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::exit(1);
  ::madvise(memory, pages * kPage, MADV_NOHUGEPAGE);
  return static_cast<char*>(memory);
}

void write_to(char* memory, std::size_t pages) {
  for (std::size_t i = 0; i < pages; ++i) *static_cast<volatile char*>(memory + i * kPage) = 1;
}

long faults_of(int who) {
  rusage usage{};
  ::getrusage(who, &usage);
  return usage.ru_minflt;
}

void fork_children(std::size_t number) {
  for (std::size_t i = 0; i < number; ++i) {
    const pid_t child = ::fork();
    if (child < 0) std::exit(1);
    if (child == 0) {
      write_to(map(kPagesOfChild), kPagesOfChild);
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
  }
}

void fork_crowd(std::size_t number) {
  for (std::size_t i = 0; i < number; ++i) {
    const pid_t child = ::fork();
    if (child < 0) std::exit(1);
    if (child != 0) continue;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() == 1) ::_exit(0);
    for (;;) ::pause();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string mode = argv[1];
  const std::size_t number = std::strtoul(argv[2], nullptr, 10);
  if (argc > 3) ::prctl(PR_SET_NAME, argv[3]);
  char* memory = mode == "refill" ? map(number) : nullptr;
  if (memory != nullptr) write_to(memory, number);
  if (mode == "crowd") fork_crowd(number);
  char line[64];
  char said[64];
  write_to(said, 1);
  std::puts("started");
  std::fflush(stdout);
  while (::read(STDIN_FILENO, line, sizeof line) > 0) {
    const long own = faults_of(RUSAGE_SELF);
    const long children = faults_of(RUSAGE_CHILDREN);
    if (memory != nullptr) {
      ::madvise(memory, number * kPage, MADV_DONTNEED);
      write_to(memory, number);
    } else if (mode == "grow") {
      write_to(map(number), number);
    } else if (mode == "forks") {
      fork_children(number);
    }
    const int length = std::snprintf(said, sizeof said, "%ld %ld\n", faults_of(RUSAGE_SELF) - own,
                                     faults_of(RUSAGE_CHILDREN) - children);
    if (::write(STDOUT_FILENO, said, static_cast<std::size_t>(length)) < 0) return 1;
  }
  return 0;
}
