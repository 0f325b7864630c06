// Stores zeros by memset over memory of every kind. Usage: clears WAY. The number of bytes that each way stores is in
// record_clears_test.py.
// `mapped`: 20 times over one mapping of 64 MiB.
// `again`: 10 times over an 8 MiB block from malloc.
// `dirty`: 10 times over 8 MiB, every other page of which is written between the stores.
// `thread`: a thread that never allocates, 10 times over 8 MiB of the program's data.
// `small`: 100,000 times 4 KiB of a buffer.
// `child`: 10 times 8 MiB, and the same in a child of fork.
// `signal`: in a signal handler on the smallest stack that POSIX permits, 1,000 times 4 KiB and once 1 MiB.
// `inline`: 10 times 8 MiB by "rep stosb", which no preloaded library sees.
// `kin`: 1,000 times 4 KiB by each function other than memset.
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cwchar>

#include "block.h"
#include "instructions.h"

// These names are unknown to the compiler, so that it emits the calls as written.
extern "C" {
void call_bzero(void* target, std::size_t bytes) __asm__("bzero");
void* call_memset_checked(void* target, int value, std::size_t bytes, std::size_t room) __asm__("__memset_chk");
void call_explicit_bzero_checked(void* target, std::size_t bytes, std::size_t room) __asm__("__explicit_bzero_chk");
}

namespace {

constexpr std::size_t kBytes = std::size_t{8} << 20;
const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

char data[kBytes];

void clear(void* memory, int times, std::size_t bytes) {
  for (int i = 0; i < times; ++i) {
    std::memset(memory, 0, bytes);
    escape(memory);
  }
}

void* map(std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) _exit(3);
  return memory;
}

void clear_dirty() {
  auto* const memory = static_cast<char*>(map(kBytes));
  for (int i = 0; i < 10; ++i) {
    for (std::size_t at = 0; at < kBytes; at += 2 * kPage) static_cast<volatile char*>(memory)[at] = 1;
    clear(memory, 1, kBytes);
  }
}

void* clear_data(void* /*nothing*/) {
  clear(&data[0], 10, kBytes);
  return nullptr;
}

int clear_in_child() {
  void* const memory = map(kBytes);
  clear(memory, 10, kBytes);
  const pid_t child = ::fork();
  if (child == 0) {
    clear(memory, 10, kBytes);
    _exit(0);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child ? status : 3;
}

void handle(int /*signal*/) {
  clear(&data[0], 1000, kPage);
  clear(&data[0], 1, kBytes / 8);
}

int clear_in_handler() {
  // The size of the processor state that the kernel saves for a handler depends on the processor: 3,376 bytes on an AMD
  // EPYC with AVX-512. The program has another 2 KiB, the MINSIGSTKSZ of processors without AVX-512.
  const std::size_t bytes = ::getauxval(AT_MINSIGSTKSZ) + 2048;
  // A page below the stack cannot be written to, which reveals an overflow.
  auto* const memory = static_cast<char*>(map(kPage + bytes));
  if (::mprotect(memory, kPage, PROT_NONE) != 0) return 3;
  stack_t stack{};
  stack.ss_sp = memory + kPage;
  stack.ss_size = bytes;
  struct sigaction action {};
  action.sa_handler = handle;
  action.sa_flags = SA_ONSTACK;
  if (::sigaltstack(&stack, nullptr) != 0 || ::sigaction(SIGUSR1, &action, nullptr) != 0) return 3;
  // At the first call to a function, the dynamic linker also saves the vector registers.
  clear(&data[0], 1, 0);
  return std::raise(SIGUSR1);
}

void clear_inline() {
  for (int i = 0; i < 10; ++i) {
    instructions::store_zeros(&data[0], kBytes);
  }
}

void clear_by_kin() {
  for (int i = 0; i < 1000; ++i) {
    call_bzero(&data[0], kPage);
    ::explicit_bzero(&data[0], kPage);
    call_memset_checked(&data[0], 0, kPage, kBytes);
    call_explicit_bzero_checked(&data[0], kPage, kBytes);
    ::wmemset(reinterpret_cast<wchar_t*>(&data[0]), 0, kPage / sizeof(wchar_t));
    escape(&data[0]);
  }
}

}  // namespace

int main(int count, char** words) {
  const char* const way = count > 1 ? words[1] : "";
  const auto is = [&](const char* name) { return std::strcmp(way, name) == 0; };
  if (is("mapped")) return clear(map(8 * kBytes), 20, 8 * kBytes), 0;
  if (is("again")) {
    void* const block = std::malloc(kBytes);
    clear(block, 10, kBytes);
    std::free(block);
    return 0;
  }
  if (is("dirty")) return clear_dirty(), 0;
  if (is("thread")) {
    pthread_t thread{};
    if (::pthread_create(&thread, nullptr, clear_data, nullptr) != 0) return 3;
    return ::pthread_join(thread, nullptr);
  }
  if (is("small")) return clear(&data[0], 100'000, kPage), 0;
  if (is("child")) return clear_in_child();
  if (is("signal")) return clear_in_handler();
  if (is("kin")) return clear_by_kin(), 0;
  if (is("inline")) return clear_inline(), 0;
  return 2;
}
