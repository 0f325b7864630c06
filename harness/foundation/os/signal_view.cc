#include "os/signal_view.h"

#include <sys/syscall.h>

#include <csignal>
#include <cstring>

#include "os/syscall_trap.h"

namespace zerotax {
namespace {

constexpr unsigned long kRestorer = 0x04000000;
constexpr int kSignals = 64;
constexpr std::uint64_t bit_of(int signal) { return std::uint64_t{1} << (signal - 1); }
constexpr std::uint64_t kSigsys = bit_of(SIGSYS);

long address_of(const void* object) { return reinterpret_cast<long>(object); }

long pass_on(const SystemCall& call) {
  const auto& a = call.arguments;
  return zerotax_syscall(call.number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/// rt_sigprocmask with the mask that was in force before it.
std::uint64_t change_mask(int how, std::uint64_t signals) {
  std::uint64_t before = 0;
  zerotax_syscall(SYS_rt_sigprocmask, how, address_of(&signals), address_of(&before), sizeof before, 0, 0);
  return before;
}

/// Where a call that waits with a mask of its own, at `mask`, is to find it: without SIGSYS, in `signals`. A handler
/// that runs meanwhile does so with that mask, and its calls become SIGSYS where the trap is for good.
long without_sigsys(long mask, std::uint64_t& signals) {
  if (mask == 0 || !read_own_memory(mask, &signals, sizeof signals)) return mask;
  signals &= ~kSigsys;
  return address_of(&signals);
}

}  // namespace

const char* SignalView::install(void (*handler)(int, siginfo_t*, void*), void (*restorer)()) {
  if (zerotax_syscall(SYS_rt_sigaction, SIGSYS, 0, address_of(&believed_), sizeof believed_.mask, 0, 0) != 0) {
    return "the SIGSYS handler was refused";
  }
  const auto before = reinterpret_cast<std::uintptr_t>(believed_.handler);
  // 0 and 1 are SIG_DFL and SIG_IGN.
  if (before > 1 && believed_.handler != handler) return "the allocator handles SIGSYS itself";
  own_ = {handler, SA_SIGINFO | SA_NODEFER | kRestorer, restorer, 0};
  if (zerotax_syscall(SYS_rt_sigaction, SIGSYS, address_of(&own_), 0, sizeof own_.mask, 0, 0) != 0) {
    return "the SIGSYS handler was refused";
  }
  clear_handler_masks();
  return nullptr;
}

void SignalView::clear_handler_masks() {
  for (int signal = 1; signal <= kSignals; ++signal) {
    Action action;
    if (signal == SIGSYS || zerotax_syscall(SYS_rt_sigaction, signal, 0, address_of(&action), 8, 0, 0) != 0) continue;
    if ((action.mask & kSigsys) == 0) continue;
    action.mask &= ~kSigsys;
    if (zerotax_syscall(SYS_rt_sigaction, signal, address_of(&action), 0, 8, 0, 0) == 0) {
      handler_masks_ |= bit_of(signal);
    }
  }
}

bool SignalView::is_ours() {
  Action now;
  zerotax_syscall(SYS_rt_sigaction, SIGSYS, 0, address_of(&now), sizeof now.mask, 0, 0);
  taken_ = taken_ || now.handler != own_.handler;
  return !taken_;
}

bool SignalView::begin() {
  blocked_ = false;
  if (!is_ours()) return false;
  blocked_ = (change_mask(SIG_UNBLOCK, kSigsys) & kSigsys) != 0;
  return true;
}

void SignalView::end() {
  if (blocked_) change_mask(SIG_BLOCK, kSigsys);
}

void SignalView::handle(int signal, siginfo_t* info, void* interrupted) const {
  if (reinterpret_cast<std::uintptr_t>(believed_.handler) > 1) believed_.handler(signal, info, interrupted);
}

bool SignalView::carry_out(SystemCall call, ucontext_t& context, long& result) {
  std::uint64_t signals = 0;
  struct {
    long mask;
    long bytes;
  } of_select{};
  switch (call.number) {
    case SYS_rt_sigprocmask:
      result = set_mask(call, context);
      return true;
    case SYS_rt_sigaction:
      result = set_action(call);
      return true;
    case SYS_sigaltstack:
      result = set_stack(call, context);
      return true;
    case SYS_rt_sigsuspend:
      call.arguments[0] = without_sigsys(call.arguments[0], signals);
      break;
    case SYS_ppoll:
      call.arguments[3] = without_sigsys(call.arguments[3], signals);
      break;
    case SYS_pselect6:
      if (read_own_memory(call.arguments[5], &of_select, sizeof of_select)) {
        of_select.mask = without_sigsys(of_select.mask, signals);
        call.arguments[5] = address_of(&of_select);
      }
      break;
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
      call.arguments[4] = without_sigsys(call.arguments[4], signals);
      break;
    case SYS_rt_sigreturn:
      blocked_ = syscall_trap::return_from_handler(context) || blocked_;
      result = 0;
      return true;
    default:
      return false;
  }
  result = pass_on(call);
  return true;
}

long SignalView::set_mask(const SystemCall& call, ucontext_t& context) {
  // The kernel computes it, from the mask that the thread believes in.
  if (blocked_) change_mask(SIG_BLOCK, kSigsys);
  const long result = pass_on(call);
  std::uint64_t mask = change_mask(SIG_UNBLOCK, kSigsys);
  blocked_ = (mask & kSigsys) != 0;
  mask &= ~kSigsys;
  // The return from the handler puts this one in force.
  std::memcpy(&context.uc_sigmask, &mask, sizeof mask);
  return result;
}

long SignalView::set_action(const SystemCall& call) {
  const auto signal = static_cast<int>(call.arguments[0]);
  Action wanted;
  const bool sets = call.arguments[1] != 0 && signal >= 1 && signal <= kSignals &&
                    call.arguments[3] == sizeof wanted.mask &&
                    read_own_memory(call.arguments[1], &wanted, sizeof wanted);
  if (signal == SIGSYS) {
    const bool handles = sets && reinterpret_cast<std::uintptr_t>(wanted.handler) > 1;
    if (handles && !syscall_trap::is_for_good()) {
      const long result = pass_on(call);
      if (result == 0 && call.arguments[2] != 0) *reinterpret_cast<Action*>(call.arguments[2]) = believed_;
      taken_ = taken_ || result == 0;
      return result;
    }
    // A query checks the addresses; nothing is changed.
    SystemCall query = call;
    query.arguments[1] = 0;
    const long result = pass_on(query);
    if (result == 0 && call.arguments[2] != 0) *reinterpret_cast<Action*>(call.arguments[2]) = believed_;
    if (result == 0 && sets) believed_ = wanted;
    taken_ = taken_ || (result == 0 && handles);
    return result;
  }
  SystemCall passed = call;
  const bool blocks = sets && (wanted.mask & kSigsys) != 0;
  if (blocks) {
    wanted.mask &= ~kSigsys;
    passed.arguments[1] = address_of(&wanted);
  }
  const bool blocked = signal >= 1 && signal <= kSignals && (handler_masks_ & bit_of(signal)) != 0;
  const long result = pass_on(passed);
  if (result != 0) return result;
  if (call.arguments[2] != 0 && blocked) reinterpret_cast<Action*>(call.arguments[2])->mask |= kSigsys;
  if (sets) handler_masks_ = blocks ? handler_masks_ | bit_of(signal) : handler_masks_ & ~bit_of(signal);
  return result;
}

long SignalView::set_stack(const SystemCall& call, ucontext_t& context) {
  const long result = pass_on(call);
  // The return from the handler puts this one in force.
  zerotax_syscall(SYS_sigaltstack, 0, address_of(&context.uc_stack), 0, 0, 0, 0);
  return result;
}

}  // namespace zerotax
