#include "os/foreground.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "os/child.h"
#include "os/clock.h"
#include "os/process_info.h"
#include "os/stop.h"
#include "os/unique_fd.h"

namespace zerotax {
namespace {

constexpr int kPassedOn[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
constexpr int kFromTerminal[] = {SIGINT, SIGQUIT};

std::atomic<pid_t> child_pid = 0;
/// A signal that another of our threads received before the program had a process ID. If there are several, only the
/// last is kept.
std::atomic<int> early_signal = 0;
std::atomic<int> kept_number = 0;
std::atomic<unsigned> kept_count = 0;
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler must not use a lock");

/// Called by the handler after it stores a signal, and by run_foreground() after it stores the process ID. The later of
/// the two calls passes the signal on.
void pass_on_early_signal() {
  const pid_t pid = child_pid;
  if (pid <= 0) return;
  if (const int number = early_signal.exchange(0); number != 0) ::kill(pid, number);
}

void pass_on(int number) {
  const int saved = errno;
  pass_to_foreground(number);
  errno = saved;
}

/// Passes on a signal that did not come from the terminal, at most once a second. A signal from the terminal reaches
/// the program directly. Another process signals only us, or the whole group, and some processes (timeout(1)) signal
/// twice. A second signal makes many servers abandon their work.
void pass_on_unless_from_terminal(int number, siginfo_t* info, void* /*context*/) {
  constexpr std::int64_t kOnceIn = 1'000'000'000;
  static volatile std::int64_t last = -kOnceIn;
  const std::int64_t now = monotonic_ns();
  if (info->si_code > 0 || now - last < kOnceIn) return;
  last = now;
  pass_on(number);
}

/// Saves the dispositions of the signals that we handle differently while the program runs.
class Dispositions {
 public:
  /// Blocks these signals in this thread until unblock(), because before fork() returns there is no process to pass the
  /// signals to. Other threads may still receive these signals (early_signal).
  Dispositions() {
    sigset_t held;
    sigemptyset(&held);
    for (const int number : kPassedOn) sigaddset(&held, number);
    for (const int number : kFromTerminal) sigaddset(&held, number);
    ::sigprocmask(SIG_BLOCK, &held, &mask_before_);
    struct sigaction action {};
    action.sa_handler = pass_on;
    for (const int number : kPassedOn) change(number, action);
    action.sa_sigaction = pass_on_unless_from_terminal;
    action.sa_flags = SA_SIGINFO;
    for (const int number : kFromTerminal) change(number, action);
  }
  ~Dispositions() { restore(); }
  Dispositions(const Dispositions&) = delete;
  Dispositions& operator=(const Dispositions&) = delete;

  void restore() const {
    for (int i = 0; i < used_; ++i) ::sigaction(numbers_[i], &before_[i], nullptr);
  }

  /// Resets handlers as exec does, but before unblock(). Otherwise a handler of zerotax would receive a signal meant
  /// for the program.
  void forget_handlers() const {
    for (int i = 0; i < used_; ++i) {
      struct sigaction action {};
      ::sigaction(numbers_[i], nullptr, &action);
      if (action.sa_handler != SIG_IGN) ::signal(numbers_[i], SIG_DFL);
    }
  }

  void unblock() const { ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr); }

 private:
  void change(int number, struct sigaction action) {
    action.sa_flags |= SA_RESTART;
    numbers_[used_] = number;
    ::sigaction(number, &action, &before_[used_++]);
  }

  sigset_t mask_before_{};
  int used_ = 0;
  int numbers_[8]{};
  struct sigaction before_[8]{};
};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  all.reserve(words.size() + 1);
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

/// Replaces a child of fork by the program. If that fails, writes errno to `failure` and ends the child.
[[noreturn]] void become(const ForegroundCommand& command, const Dispositions& dispositions, char* const* words,
                         char* const* environment, int failure) {
  dispositions.restore();
  if (command.output_to_errors) ::dup2(STDERR_FILENO, STDOUT_FILENO);
  if (command.before_exec != nullptr) command.before_exec();
  dispositions.forget_handlers();
  dispositions.unblock();
  ::execve(command.program.c_str(), words, environment);
  const int reason = errno;
  [[maybe_unused]] const ssize_t written = ::write(failure, &reason, sizeof reason);
  ::_exit(127);
}

/// Waits until the program has ended, and adds its counts, times and exit status to the result.
void wait_for_end(ForegroundResult& result) {
  // The process has ended but is not reaped, so its own counts can be read. wait4 would include the counts of its
  // descendants.
  siginfo_t end{};
  while (::waitid(P_PID, static_cast<id_t>(result.pid), &end, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  result.minor_faults = process_minor_faults(result.pid);
  int status = 0;
  rusage usage{};
  while (::wait4(result.pid, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  child_pid = 0;
  result.all_minor_faults = static_cast<std::uint64_t>(usage.ru_minflt);
  result.wall_ns = monotonic_ns() - result.started_ns;
  result.user_ns = in_ns(usage.ru_utime);
  result.system_ns = in_ns(usage.ru_stime);
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  result.exit_status = result.signal != 0 ? 128 + result.signal : WEXITSTATUS(status);
}

}  // namespace

void keep_from_foreground(int number) { kept_number = number; }

unsigned kept_signals() { return kept_count; }

void pass_to_foreground(int number) {
  if (number == kept_number) {
    ++kept_count;
    return;
  }
  if (const pid_t pid = child_pid; pid > 0) {
    ::kill(pid, number);
  } else {
    early_signal = number;
    pass_on_early_signal();
  }
}

ForegroundResult run_foreground(const ForegroundCommand& command) {
  std::vector<std::string> words = command.words;
  std::vector<std::string> entries = environment_with(command.environment);
  const std::vector<char*> argv = pointers(words);
  const std::vector<char*> envp = pointers(entries);
  ForegroundResult result;
  Pipe pipe = make_pipe();
  if (!pipe.read_end) {
    result.not_started = errno;
    return result;
  }

  early_signal = interrupted();  // a signal that asked us to end before the program started is passed on as well
  const Dispositions dispositions;
  result.started_ns = monotonic_ns();
  // Orphans of the program are adopted by init as usual, not by this process. os/child.cc makes this process the reaper
  // of probes' orphans.
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  const pid_t pid = ::fork();
  if (pid == 0) become(command, dispositions, argv.data(), envp.data(), pipe.write_end.get());
  if (pid < 0) {
    result.not_started = errno;
    dispositions.unblock();
    return result;
  }
  child_pid = pid;
  pass_on_early_signal();
  dispositions.unblock();
  result.pid = pid;
  pipe.write_end.reset();
  // The read returns at the exec, which closes the other end of the pipe.
  while (::read(pipe.read_end.get(), &result.not_started, sizeof result.not_started) < 0 && errno == EINTR) {
  }
  wait_for_end(result);
  return result;
}

}  // namespace zerotax
