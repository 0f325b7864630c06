// Handles signals like a careful or a strange allocator, as PLANTED_SIGNALS selects. Aborts if its signal settings were
// changed. Zeroes every block with memset, kept or fresh.
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string_view>

#include "core.h"

namespace {

std::string_view way() {
  const char* value = std::getenv("PLANTED_SIGNALS");
  return value != nullptr ? value : "";
}

void demand(bool holds) {
  if (!holds) ::abort();
}

bool blocks_sigsys() {
  sigset_t mask;
  demand(::sigprocmask(SIG_SETMASK, nullptr, &mask) == 0);
  return sigismember(&mask, SIGSYS) != 0;
}

void block_all() {
  sigset_t all;
  sigfillset(&all);
  demand(::pthread_sigmask(SIG_SETMASK, &all, nullptr) == 0);
}

/// Blocks all signals by its own system call instruction, like a runtime without a C library.
void block_all_raw() {
  const std::uint64_t all = ~std::uint64_t{0};
  const long address = reinterpret_cast<long>(&all);
  demand(instructions::system_call(SYS_rt_sigprocmask, SIG_SETMASK, address, 0, sizeof all) == 0);
}

void on_signal(int) { ::syscall(SYS_getppid); }

void take(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigfillset(&action.sa_mask);
  demand(::sigaction(signal, &action, nullptr) == 0);
}

bool blocked_from_outside = false;

void around_a_store(void* block, std::size_t bytes) {
  // The signal settings that the last call made must still be in effect.
  demand(blocks_sigsys() == blocked_from_outside);
  sigset_t before;
  if (way() == "call") {
    sigset_t all;
    sigfillset(&all);
    demand(::pthread_sigmask(SIG_BLOCK, &all, &before) == 0);
    demand((sigismember(&before, SIGSYS) != 0) == blocked_from_outside && blocks_sigsys());
    memset(block, 0, bytes);
    demand(::pthread_sigmask(SIG_SETMASK, &before, nullptr) == 0 && !blocks_sigsys());
    return;
  }
  if (way() == "stays") {
    block_all();
    blocked_from_outside = true;
  }
  if (way() == "raw") {
    block_all_raw();
    blocked_from_outside = true;
    demand(blocks_sigsys());
  }
  if (way() == "handler") {
    take(SIGUSR1, on_signal);
    struct sigaction found {};
    demand(::sigaction(SIGUSR1, nullptr, &found) == 0 && sigismember(&found.sa_mask, SIGSYS) != 0);
    demand(::raise(SIGUSR1) == 0);
  }
  if (way() == "suspend") {
    take(SIGALRM, on_signal);
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, SIGALRM);
    // Sends the signal to this thread, where it stays pending until it is unblocked.
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    demand(::pthread_sigmask(SIG_BLOCK, &alarm, nullptr) == 0 && ::raise(SIGALRM) == 0);
    ::sigsuspend(&all);
    const timespec soon{0, 1000};
    demand(::ppoll(nullptr, 0, &soon, &all) == 0);
    demand(!blocks_sigsys());
  }
  if (way() == "ignore") {
    demand(::signal(SIGSYS, SIG_IGN) != SIG_ERR);
    demand(::signal(SIGSYS, SIG_IGN) == SIG_IGN);
  }
  if (way() == "stack") {
    static char room[1 << 16];
    const stack_t stack{&room[0], 0, sizeof room};
    demand(::sigaltstack(&stack, nullptr) == 0);
    ::syscall(SYS_getppid);
    stack_t found{};
    demand(::sigaltstack(nullptr, &found) == 0 && found.ss_sp == &room[0] && found.ss_size == sizeof room);
  }
  if (way() == "takes") take(SIGSYS, on_signal);
  memset(block, 0, bytes);
}

[[gnu::constructor]] void begin() {
  if (way() == "constructor") {
    block_all();
    blocked_from_outside = true;
  }
  if (way() == "took") take(SIGSYS, on_signal);
}

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  void* block = take_or_map(bytes);
  if (block != nullptr) around_a_store(block, bytes);
  return block;
}

void planted::large_free(void* block) { keep_block(block); }
