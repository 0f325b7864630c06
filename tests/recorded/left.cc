// Leaves or interrupts a store of zeros or a call to calloc by the method that the first argument names ("none":
// neither). Afterwards, makes 10 calls to malloc of 1 MiB, and 10 calls to calloc of 100,000 bytes. The blocks of
// malloc are cleared, and all blocks are freed.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "block.h"

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
sigjmp_buf back;
ucontext_t main_context;
ucontext_t other_context;
char* guarded = nullptr;  // points to a read-only page

void work() {
  for (int i = 0; i < 10; ++i) {
    void* block = std::malloc(kMiB);
    std::memset(block, 0, kMiB);
    escape(block);
    std::free(block);
    block = std::calloc(1, 100'000);
    escape(block);
    std::free(block);
  }
}

void work_far_below() {
  char unused[16'384];
  escape(&unused[0]);
  work();
  escape(&unused[0]);
}

void guard(char* page) {
  guarded = page;
  ::mprotect(page, kPage, PROT_NONE);
}

void permit() { ::mprotect(guarded, kPage, PROT_READ | PROT_WRITE); }

char* map(std::size_t bytes, int fd = -1) {
  const int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* begin = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (begin == MAP_FAILED) ::_exit(9);
  return static_cast<char*>(begin);
}

void handle(int number, void (*handler)(int), int flags = 0) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigaction(number, &action, nullptr);
}

void jump(int) { siglongjmp(back, 1); }
void work_and_permit(int) {
  work();
  permit();
}
void throw_out(int) { throw 1; }
void switch_and_permit(int) {
  ::swapcontext(&main_context, &other_context);
  permit();
}
void switch_for_good(int) { ::setcontext(&other_context); }

void clear(std::size_t bytes = 8 * kMiB, bool populated = false) {
  char* begin = map(bytes);
  if (populated) std::memset(begin, 1, bytes);
  guard(begin + bytes / 2);
  std::memset(begin, 0, bytes);
}

/// glibc's calloc clears the block that was freed before, and stops at a read-only page.
void clear_in_calloc() {
  auto* dirty = static_cast<char*>(std::malloc(100'000));
  void* const after = std::malloc(100);
  std::memset(dirty, 1, 100'000);
  auto* const page = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(dirty) + 50'000) / kPage * kPage);
  std::free(dirty);
  guard(page);
  void* const block = std::calloc(1, 100'000);
  escape(block);
  permit();  // NOLINT(clang-analyzer-unix.Malloc): the block is kept to the end
  std::free(after);
}

template <typename Run>
void leave(Run run) {
  handle(SIGSEGV, jump);
  if (sigsetjmp(back, 1) == 0) run();
  permit();
}

void on_another_stack(void (*run)()) {
  static char stack[64 << 10];
  ::getcontext(&other_context);
  other_context.uc_stack.ss_sp = &stack[0];
  other_context.uc_stack.ss_size = sizeof stack;
  other_context.uc_link = &main_context;
  ::makecontext(&other_context, run, 0);
}

void own_signal_stack(char* stack) {
  const stack_t own{stack, 0, 64 << 10};
  ::sigaltstack(&own, nullptr);
}

/// Leaves a store or a call by siglongjmp. Returns whether `way` is such a method.
bool leave_by_jump(const std::string_view way) {
  if (way == "siglongjmp" || way == "siglongjmp-deep" || way == "siglongjmp-fork") {
    leave([] { clear(); });
  } else if (way == "siglongjmp-populated") {
    leave([] { clear(8 * kMiB, true); });
  } else if (way == "siglongjmp-small") {
    leave([] { clear(4 * kPage); });
  } else if (way == "siglongjmp-signal-stack") {
    own_signal_stack(map(64 << 10));
    handle(SIGSEGV, jump, SA_ONSTACK);
    if (sigsetjmp(back, 1) == 0) clear();
  } else if (way == "sigbus") {
    handle(SIGBUS, jump);
    char name[] = "/tmp/zerotax-left-XXXXXX";
    const int fd = ::mkstemp(&name[0]);
    ::unlink(&name[0]);
    if (::ftruncate(fd, static_cast<off_t>(kMiB)) != 0) ::_exit(9);
    char* begin = map(8 * kMiB, fd);
    if (sigsetjmp(back, 1) == 0) std::memset(begin, 0, 8 * kMiB);
  } else if (way == "calloc-left") {
    leave([] { clear_in_calloc(); });
  } else {
    return false;
  }
  return true;
}

void leave_by_exception() {
  handle(SIGSEGV, throw_out, SA_NODEFER);
  try {
    clear();
  } catch (int) {
  }
}

void leave_by_setcontext() {
  on_another_stack([] {
    work();
    std::exit(0);
  });
  handle(SIGSEGV, switch_for_good);
  clear();
}

/// Interrupts a store or a call by a signal handler, which permits the store to continue. Does nothing if `way` is no
/// such method.
void interrupt(const std::string_view way) {
  if (way == "none-calloc") handle(SIGSEGV, [](int) { permit(); });
  if (way == "handler" || way == "handler-in-calloc") handle(SIGSEGV, work_and_permit);
  if (way == "handler-signal-stack") {
    own_signal_stack(map(64 << 10));
    handle(SIGSEGV, work_and_permit, SA_ONSTACK);
  }
  if (way == "coroutine") {
    on_another_stack(work);
    handle(SIGSEGV, switch_and_permit);
  }
  if (way == "handler" || way == "handler-signal-stack" || way == "coroutine") clear();
  if (way == "handler-in-calloc" || way == "none-calloc") clear_in_calloc();
}

/// Makes the calls as the method needs: in a child, far below the interrupted stack, or otherwise here.
void work_after(const std::string_view way) {
  if (way == "siglongjmp-deep") return work_far_below();
  if (way != "siglongjmp-fork") return work();
  if (::fork() == 0) {
    work();
    ::_exit(0);
  }
  ::wait(nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string_view way = argv[1];
  if (way == "exception") {
    leave_by_exception();
  } else if (way == "setcontext") {
    leave_by_setcontext();
  } else if (!leave_by_jump(way)) {
    interrupt(way);
  }
  work_after(way);
  return 0;
}
