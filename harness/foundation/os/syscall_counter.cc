#include "os/syscall_counter.h"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "os/processor.h"
#include "os/syscall_trap.h"

namespace zerotax {
namespace {

/// Preserves a thread's own view of its signals while its system calls are dispatched by SIGSYS. Dispatch needs SIGSYS
/// unblocked, or the kernel kills the process. Calls that change the signal mask or the alternate stack are undone when
/// the handler returns, unless the handler's frame is changed too. The thread reads back exactly what it set, and its
/// settings remain when the dispatch ends. Allocates nothing. Serves one thread only.
class SignalView {
 public:
  /// Installs `handler` for SIGSYS. Returns nullptr, or the reason for a failure, for example that the process handles
  /// SIGSYS itself.
  const char* install(void (*handler)(int, siginfo_t*, void*), void (*restorer)());

  /// Returns false if other code has changed the handler of SIGSYS since install().
  bool is_ours();
  /// Unblocks SIGSYS. Returns false if other code has changed the handler of SIGSYS, because dispatch would call that
  /// code.
  bool begin();
  /// Restores the mask that the thread set.
  void end();

  /// Handles a SIGSYS that no system call raised. Acts as the thread's own setting for SIGSYS requires (`believed_`).
  void handle(int signal, siginfo_t* info, void* interrupted) const;

  /// Performs a dispatched system call that concerns signals, and applies its effects to the interrupted thread's
  /// `context`. Returns false for any other call. `result` is the kernel's return value.
  bool carry_out(SystemCall call, ucontext_t& context, long& result);

  /// Whether the thread has installed its own handler for SIGSYS with a call that concerns signals. From then on, the
  /// thread's system calls are not counted.
  [[nodiscard]] bool taken() const { return taken_; }

 private:
  /// struct kernel_sigaction. glibc's sigaction() would insert a return trampoline, whose system call would itself be
  /// dispatched.
  struct Action {
    void (*handler)(int, siginfo_t*, void*) = nullptr;
    unsigned long flags = 0;
    void (*restorer)() = nullptr;
    std::uint64_t mask = 0;
  };

  long set_mask(const SystemCall& call, ucontext_t& context);
  long set_action(const SystemCall& call);
  static long set_stack(const SystemCall& call, ucontext_t& context);
  void clear_handler_masks();

  Action own_;
  Action believed_;                  ///< action of SIGSYS from the thread's point of view: the default, or ignored
  bool blocked_ = false;             ///< whether SIGSYS is blocked from the thread's point of view
  std::uint64_t handler_masks_ = 0;  ///< signals whose handlers block SIGSYS, from the thread's point of view
  bool taken_ = false;
};

constexpr unsigned long kRestorer = 0x04000000;
constexpr int kSignals = 64;
constexpr std::uint64_t bit_of(int signal) { return std::uint64_t{1} << (signal - 1); }
constexpr std::uint64_t kSigsys = bit_of(SIGSYS);

long address_of(const void* object) { return reinterpret_cast<long>(object); }

long pass_on(const SystemCall& call) {
  const auto& a = call.arguments;
  return zerotax_syscall(call.number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/// Calls rt_sigprocmask and returns the previous mask.
std::uint64_t change_mask(int how, std::uint64_t signals) {
  std::uint64_t before = 0;
  zerotax_syscall(SYS_rt_sigprocmask, how, address_of(&signals), address_of(&before), sizeof before, 0, 0);
  return before;
}

/// Returns the address of a mask without SIGSYS, for a call that waits with the mask at `mask`. The copy is stored in
/// `signals`. A handler that runs during the wait also has the mask without SIGSYS. If the trap is permanent, the
/// handler's calls become SIGSYS too.
long without_sigsys(long mask, std::uint64_t& signals) {
  if (mask == 0 || !read_own_memory(mask, &signals, sizeof signals)) return mask;
  signals &= ~kSigsys;
  return address_of(&signals);
}

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
  // The kernel computes the new mask from the mask that the thread believes to be set.
  if (blocked_) change_mask(SIG_BLOCK, kSigsys);
  const long result = pass_on(call);
  std::uint64_t mask = change_mask(SIG_UNBLOCK, kSigsys);
  blocked_ = (mask & kSigsys) != 0;
  mask &= ~kSigsys;
  // The return from the handler activates this mask.
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
    // A query checks the addresses without changing anything.
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
  // The return from the handler activates this stack.
  zerotax_syscall(SYS_sigaltstack, 0, address_of(&context.uc_stack), 0, 0, 0, 0);
  return result;
}

constexpr char kAllow = 0;
constexpr char kBlock = 1;
constexpr const char* kEnded = "the allocator ended the dispatch of system calls";
constexpr const char* kTaken = "the allocator handles SIGSYS itself";

// Whether system calls are trapped now. Only the thread that called install() writes this variable. At each system call
// of that thread, the kernel reads the variable; under a permanent trap, the handler reads it.
volatile char selector = kAllow;
std::uint32_t counts[SyscallCounter::kNumbers];
bool stopped_early = false;
bool foreign = false;  ///< whether a system call of another architecture stopped the counting
SyscallCounter::Observer* observer = nullptr;
SignalView signals;

/// Whether the thread itself must make a call, outside this handler. The child of a clone may have a stack that lacks
/// the handler's frame. pkey_alloc changes a register, and the return from the handler would undo the change.
bool must_be_made_in_place(long number) {
#if defined(__x86_64__)
  if (number == SYS_fork || number == SYS_vfork) return true;
#endif
  return number == SYS_clone || number == SYS_clone3 || number == SYS_pkey_alloc;
}

long make(const SystemCall& call) {
  const auto& a = call.arguments;
  return zerotax_syscall(call.number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/// Performs a call that a permanent trap catches although no calls are counted. A thread that the counted thread
/// started also comes here, and has its own signal settings.
void pass_on(const SystemCall& call, ucontext_t& context, bool native) {
  if (!native || must_be_made_in_place(call.number)) return syscall_trap::make_in_place(context, native);
  long result = 0;
  SignalView of_thread;
  SignalView& view = syscall_filter::is_counted_thread() ? signals : of_thread;
  if (!view.carry_out(call, context, result)) result = make(call);
  syscall_trap::set_result(context, result);
}

void on_syscall(int signal, siginfo_t* info, void* interrupted) {
  if (info->si_code <= 0) return signals.handle(signal, info, interrupted);  // sent by a process or thread
  auto& context = *static_cast<ucontext_t*>(interrupted);
  const SystemCall call = syscall_trap::call_of(context);
  const bool native = info->si_arch == kAuditArchitecture;
  if (syscall_trap::is_for_good() && (selector == kAllow || !syscall_filter::is_counted_thread())) {
    return pass_on(call, context, native);
  }
  // rt_sigreturn is not counted, because the kernel, not the program, arranges the return from a signal handler.
  const bool counts_it = call.number >= 0 && call.number != SYS_rt_sigreturn &&
                         static_cast<std::size_t>(call.number) < SyscallCounter::kNumbers;
  if (counts_it && native) ++counts[call.number];

  if (!native || must_be_made_in_place(call.number)) {
    // The thread issues the call again, without being trapped.
    stopped_early = true;
    foreign = foreign || !native;
    selector = kAllow;
    return syscall_trap::make_in_place(context, native);
  }
  long result = 0;
  bool done = false;
  {
    const SyscallCounter::Pause pause;
    if (observer != nullptr) observer->before_call(call);
    done = signals.carry_out(call, context, result);
  }
  // If the call raises another signal, that signal's handler belongs to the allocator, and the handler's calls count.
  if (!done) result = make(call);
  const SyscallCounter::Pause pause;
  if (observer != nullptr) observer->after_call(call, result);
  syscall_trap::set_result(context, result);
}

/// Whether system calls are dispatched now, as they must be between begin() and end().
bool is_dispatching() {
  const std::uint32_t before = counts[SYS_getppid];
  ::syscall(SYS_getppid);
  const bool seen = counts[SYS_getppid] != before;
  counts[SYS_getppid] = before;
  return seen;
}

}  // namespace

const char* SyscallCounter::install() {
  if (syscall_trap::is_for_good() && syscall_filter::is_counted_thread()) return nullptr;
  if (const char* refusal = signals.install(on_syscall, zerotax_sigreturn)) return refusal;
  // After start(), SIGSYS must never be blocked.
  if (syscall_trap::is_for_good() && !signals.begin()) return kTaken;
  return syscall_trap::start(&selector);
}

const char* SyscallCounter::begin(Observer* told) {
  std::memset(&counts[0], 0, sizeof counts);
  stopped_early = foreign = false;
  if (!(syscall_trap::is_for_good() ? signals.is_ours() : signals.begin())) return kTaken;
  observer = told;
  selector = kBlock;
  return nullptr;
}

const char* SyscallCounter::end() {
  observer = nullptr;
  const bool ended = selector == kBlock && !signals.taken() && !is_dispatching();
  selector = kAllow;
  if (!syscall_trap::is_for_good()) signals.end();
  return signals.taken() ? kTaken : ended ? kEnded : nullptr;
}

std::uint32_t SyscallCounter::calls(std::size_t number) { return number < kNumbers ? counts[number] : 0; }

bool SyscallCounter::incomplete() { return stopped_early; }

const char* SyscallCounter::why_incomplete() {
  return foreign ? "the call made a system call of i386 programs (int 0x80), and was not followed afterward"
                 : "the call started a thread or process, and was not followed afterward";
}

SyscallCounter::Pause::Pause() : saved_(selector) { selector = kAllow; }
SyscallCounter::Pause::~Pause() { selector = stopped_early || signals.taken() ? kAllow : saved_; }

}  // namespace zerotax
