#include "record/preload/own_stack.h"

#include <sched.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>

#include "os/page.h"
#include "record/preload/instructions.h"
#include "record/preload/process.h"
#include "record/preload/state.h"

// Runs work on the stack that ends at `entry`, and saves the registers in `entry`. Defined in own_stack_*.cc.
extern "C" [[gnu::visibility("hidden")]] void zerotax_call_on_stack(void (*work)(void*), void* argument,
                                                                    zerotax::record::EntryRegisters* entry);

namespace zerotax::record {
namespace {

constexpr std::size_t kStackBytes = std::size_t{64} << 10;
constexpr std::uint32_t kStacks = 32;
/// Bytes of stack that the recorder's work usually takes.
constexpr std::size_t kUsualBytes = std::size_t{16} << 10;

struct alignas(kLeastPageBytes) OwnStack {
  unsigned char bytes[kStackBytes - (sizeof(EntryRegisters) + 15) / 16 * 16];
  alignas(16) EntryRegisters entry;  ///< at the highest address of the stack, which grows down
};
static_assert(sizeof(OwnStack) == kStackBytes);

OwnStack stacks[kStacks];
constinit std::atomic<std::uint32_t> taken{0};   ///< a bit for each stack that is taken
constinit std::atomic<std::uint32_t> backed{0};  ///< a bit for each stack of which kUsualBytes are populated

/// Takes the lowest free stack, so that few stacks occupy memory. Returns kStacks if no stack is free.
std::uint32_t take_stack() {
  std::uint32_t known = taken;
  while (known != ~std::uint32_t{0}) {
    const auto lowest = static_cast<std::uint32_t>(__builtin_ctz(~known));
    if (taken.compare_exchange_weak(known, known | 1U << lowest)) return lowest;
  }
  return kStacks;
}

std::uint32_t wait_for_stack() {
  constexpr int kPatience = 10'000;
  std::uint32_t index = take_stack();
  for (int i = 0; index == kStacks && i < kPatience; ++i) {
    ::sched_yield();
    index = take_stack();
  }
  return index;
}

/// Populates the stack's usual pages, so that their page faults count as the recorder's, even during a call by the
/// program.
void back(std::uint32_t index) {
  const std::uint32_t bit = 1U << index;
  if ((backed & bit) != 0) return;
  const OwnWork own;
  have_pages(&stacks[index].bytes[sizeof stacks[index].bytes - kUsualBytes], kUsualBytes);
  backed |= bit;
}

/// Returns a set of one signal in the kernel's form, in which bit 0 is signal 1.
constexpr std::uint64_t set_of(int signal) { return std::uint64_t{1} << (signal - 1); }

void set_blocked(std::uint64_t wanted, std::uint64_t* before) {
  kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&wanted), reinterpret_cast<long>(before),
              sizeof wanted);
}

}  // namespace

const EntryRegisters* entry_registers() {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const auto first = reinterpret_cast<std::uintptr_t>(&stacks[0]);
  const std::uintptr_t index = (here - first) / kStackBytes;
  return here >= first && index < kStacks ? &stacks[index].entry : nullptr;
}

bool call_on_own_stack(void (*work)(void*), void* argument) {
  if (entry_registers() != nullptr) {
    work(argument);
    return true;
  }
  const int saved = errno;
  std::uint64_t before = 0;
  set_blocked(~(set_of(SIGSEGV) | set_of(SIGBUS) | set_of(SIGILL) | set_of(SIGFPE) | set_of(SIGTRAP) | set_of(SIGSYS)),
              &before);
  const std::uint32_t index = wait_for_stack();
  if (index != kStacks) back(index);
  errno = saved;
  if (index != kStacks) {
    zerotax_call_on_stack(work, argument, &stacks[index].entry);
    taken &= ~(1U << index);
  }
  set_blocked(before, nullptr);
  return index != kStacks;
}

void free_own_stacks() {
  taken = 0;
  backed = 0;
}

}  // namespace zerotax::record
