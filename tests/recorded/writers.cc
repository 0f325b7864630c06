// Shares memory with a child, which writes known numbers of pages in known ways. Usage: writers. Each number below is a
// number of pages that the child copies.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace {

constexpr std::size_t kByProgram = 500;
constexpr std::size_t kOfStack = 100;
constexpr std::size_t kBlocks = 400;  // blocks of the allocator, each with a header on a page of its own
constexpr std::size_t kOfFile = 50;
constexpr std::size_t kInSystemCall = 60;
constexpr std::size_t kLargestPage = 4096;

const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
/// Initialized data, which the program's file contains.
char data[(kOfFile + 2) * kLargestPage] = {1};
char* memory = nullptr;
char* blocks[kBlocks];

void write_pages(volatile char* from, std::size_t count, char value) {
  for (std::size_t i = 0; i < count; ++i) from[i * kPage] = value;
}

void free_every_other_block() {
  for (std::size_t i = 0; i < kBlocks; i += 2) std::free(blocks[i]);
}

int child(volatile char* stack) {
  write_pages(memory, kByProgram, 2);
  write_pages(stack, kOfStack, 2);
  write_pages(&data[kPage], kOfFile, 2);
  free_every_other_block();
  const int zero = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  const std::size_t bytes = kInSystemCall * kPage;
  const bool is_read = ::read(zero, memory + kByProgram * kPage, bytes) == static_cast<ssize_t>(bytes);
  // zerotax reads the pages of a file after the faults.
  ::sleep(3);
  return is_read ? 0 : 3;
}

int run() {
  volatile char stack[(kOfStack + 2) * kLargestPage];
  write_pages(stack, kOfStack + 1, 1);
  write_pages(&data[0], kOfFile + 1, 1);
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(child(&stack[kPage]));
  int status = 0;
  return ::waitpid(pid, &status, 0) == pid ? status : 3;
}

}  // namespace

int main() {
  // A page that was written on another CPU stays in that CPU's list of new pages for a while, and is copied for this
  // reason alone.
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &cpus);
  if (sched_setaffinity(0, sizeof cpus, &cpus) != 0 || kPage > kLargestPage) return 3;
  const std::size_t bytes = (kByProgram + kInSystemCall) * kPage;
  memory = static_cast<char*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (memory == MAP_FAILED || ::madvise(memory, bytes, MADV_NOHUGEPAGE) != 0) return 3;
  write_pages(memory, kByProgram + kInSystemCall, 1);
  for (char*& block : blocks) {
    block = static_cast<char*>(std::malloc(2 * kPage - 16));
    write_pages(block, 2, 1);
  }
  return run();
}
