#include "os/syscall_counter.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <csignal>
#include <cstring>

// The handler's own system calls, and its return, come from here: the one range of code that is never dispatched.
// The kernel compares the address after the instruction, hence the trap behind the last one.
asm(R"(
  .text
  .type zerotax_syscall, @function
zerotax_syscall_begin:
zerotax_syscall:
  mov %rdi, %rax
  mov %rsi, %rdi
  mov %rdx, %rsi
  mov %rcx, %rdx
  mov %r8, %r10
  mov %r9, %r8
  mov 8(%rsp), %r9
  syscall
  ret
zerotax_sigreturn:
  mov $15, %eax
  syscall
  ud2
zerotax_syscall_end:
  .size zerotax_syscall, . - zerotax_syscall
)");
extern "C" {
extern const char zerotax_syscall_begin[] __attribute__((visibility("hidden")));
extern const char zerotax_syscall_end[] __attribute__((visibility("hidden")));
long zerotax_syscall(long number, long a, long b, long c, long d, long e, long f) __attribute__((visibility("hidden")));
void zerotax_sigreturn() __attribute__((visibility("hidden")));
}

namespace zerotax {
namespace {

// From include/uapi/linux/prctl.h.
constexpr int kSetDispatch = 59;
constexpr unsigned long kDispatchOn = 1;
constexpr char kAllow = 0;
constexpr char kBlock = 1;
constexpr int kMadvPopulateRead = 22;
constexpr int kMadvPopulateWrite = 23;

// The kernel reads the selector on every system call of the installing thread; only that thread writes it.
volatile char selector = kAllow;
std::uint32_t counts[SyscallCounter::kNumbers];
bool stopped_early = false;
bool populate = false;

/// struct kernel_sigaction: glibc's sigaction() would put its own return trampoline in, which would itself be
/// dispatched.
struct KernelSigaction {
  void (*handler)(int, siginfo_t*, void*);
  unsigned long flags;
  void (*restorer)();
  std::uint64_t mask;
};
constexpr unsigned long kRestorer = 0x04000000;
constexpr std::uint64_t kSigsysBit = std::uint64_t{1} << (SIGSYS - 1);

void note_populate(long number, const greg_t* registers) {
  switch (number) {
    case SYS_mmap:
      populate = populate || (registers[REG_R10] & (MAP_POPULATE | MAP_LOCKED)) != 0;
      break;
    case SYS_madvise:
      populate = populate || registers[REG_RDX] == kMadvPopulateRead || registers[REG_RDX] == kMadvPopulateWrite;
      break;
    case SYS_mlock:
    case SYS_mlock2:
    case SYS_mlockall:
      populate = true;
      break;
    default:
      break;
  }
}

void on_syscall(int /*signal*/, siginfo_t* /*info*/, void* context) {
  greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const long number = registers[REG_RAX];
  if (number >= 0 && static_cast<std::size_t>(number) < SyscallCounter::kNumbers) ++counts[number];
  note_populate(number, registers);

  if (number == SYS_clone || number == SYS_clone3 || number == SYS_fork || number == SYS_vfork) {
    // The child would return on a stack that this handler does not have. Let the thread issue it again, undisturbed.
    stopped_early = true;
    selector = kAllow;
    registers[REG_RIP] -= 2;  // the length of the syscall instruction
    return;
  }
  long second = registers[REG_RSI];
  std::uint64_t mask = 0;
  if (number == SYS_rt_sigprocmask && second != 0 && registers[REG_RDI] != SIG_UNBLOCK) {
    // With SIGSYS blocked the next dispatched system call would kill the process.
    std::memcpy(&mask, reinterpret_cast<const void*>(second), sizeof mask);
    mask &= ~kSigsysBit;
    second = reinterpret_cast<long>(&mask);
  }
  registers[REG_RAX] = zerotax_syscall(number, registers[REG_RDI], second, registers[REG_RDX], registers[REG_R10],
                                       registers[REG_R8], registers[REG_R9]);
}

}  // namespace

const char* SyscallCounter::install() {
  const KernelSigaction action{on_syscall, SA_SIGINFO | SA_NODEFER | kRestorer, zerotax_sigreturn, 0};
  if (zerotax_syscall(SYS_rt_sigaction, SIGSYS, reinterpret_cast<long>(&action), 0, sizeof action.mask, 0, 0) != 0) {
    return "the SIGSYS handler was refused";
  }
  if (::prctl(kSetDispatch, kDispatchOn, &zerotax_syscall_begin[0], zerotax_syscall_end - zerotax_syscall_begin,
              &selector) != 0) {
    return "this kernel has no syscall user dispatch (Linux 5.11)";
  }
  return nullptr;
}

void SyscallCounter::begin() {
  std::memset(&counts[0], 0, sizeof counts);
  stopped_early = false;
  populate = false;
  selector = kBlock;
}

void SyscallCounter::end() { selector = kAllow; }

std::uint32_t SyscallCounter::calls(std::size_t number) { return number < kNumbers ? counts[number] : 0; }

bool SyscallCounter::incomplete() { return stopped_early; }
bool SyscallCounter::populate_requested() { return populate; }

SyscallCounter::Pause::Pause() : saved_(selector) { selector = kAllow; }
SyscallCounter::Pause::~Pause() { selector = saved_; }

}  // namespace zerotax
