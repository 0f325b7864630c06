#include "os/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "os/memory.h"
#include "os/unique_fd.h"

namespace zerotax {
namespace {

namespace fs = std::filesystem;

bool is_stop(unsigned long signal) {
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/// Returns the index of the argument with which a system call passes the signal to send, or -1 if the call sends no
/// signal.
int signal_argument(long number) {
  switch (number) {
    case SYS_kill:
    case SYS_tkill:
    case SYS_rt_sigqueueinfo:
      return 1;
    case SYS_tgkill:
    case SYS_rt_tgsigqueueinfo:
      return 2;
    default:
      return -1;
  }
}

/// Whether a line of /proc/PID/task/TID/syscall shows a call that sends a stop signal. The line contains the call's
/// number, six arguments in hexadecimal, the stack pointer, and the program counter.
bool sends_stop(const std::string& line) {
  std::istringstream words(line);
  long number = -1;
  if (!(words >> number)) return false;
  const int which = signal_argument(number);
  if (which < 0) return false;
  unsigned long argument = 0;
  for (int i = 0; i <= which; ++i) words >> std::hex >> argument;
  return words && is_stop(argument);
}

using Clock = std::chrono::steady_clock;

constexpr std::size_t kCaptureBytes = std::size_t{64} * 1024;
constexpr int kWatchMs = 20;
constexpr int kCloseWatchMs = 5;
/// Maximum expected time between two checks. After a longer gap, this process was itself stopped (SIGSTOP, Ctrl-Z), and
/// perhaps the child was stopped too.
constexpr auto kMostBetweenLooks = std::chrono::milliseconds(100);
/// Maximum wait for a process that stopped itself. Another of its threads or children may still continue it.
constexpr auto kOwnStop = std::chrono::seconds(1);
/// Maximum wait for a process that another process stopped. Without this limit, a command whose child stops it would
/// never end.
constexpr auto kForeignStop = std::chrono::hours(1);

bool has_ended(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/// Measures how long a child could run, and how long a signal kept the child stopped.
class Stopwatch {
 public:
  /// Checks the child's state, and counts the time since the last check.
  void look(pid_t pid) {
    const auto now = Clock::now();
    const auto step = std::min<Clock::duration>(now - last_, kMostBetweenLooks);
    last_ = now;
    const int signal = stopped_by(pid);
    if (signal == 0) {
      used_ += step;
    } else {
      if (signal_ == 0) own_ = stopped_itself(pid);
      stopped_ = signal_ == 0 ? Clock::duration(0) : stopped_ + step;
    }
    signal_ = signal;
  }

  [[nodiscard]] Clock::duration used() const { return used_; }
  /// Returns the signal that has stopped the child for longer than the maximum wait, or 0.
  [[nodiscard]] int stopped_for_good() const {
    return signal_ != 0 && stopped_ > (own_ ? Clock::duration(kOwnStop) : Clock::duration(kForeignStop)) ? signal_ : 0;
  }

 private:
  Clock::time_point last_ = Clock::now();
  Clock::duration used_{0};
  Clock::duration stopped_{0};  ///< duration of the child's current stop
  int signal_ = 0;              ///< the stop signal at the last check
  bool own_ = false;
};

/// Whether to kill the child. If so, `end` and `code` give the reason.
bool is_over_limit(pid_t pid, const ChildCommand& command, const std::function<bool()>& stop, const Stopwatch& time,
                   ChildResult& result) {
  const auto resident = command.resident_limit != 0 ? resident_bytes(pid) : std::nullopt;
  if (resident && *resident > command.resident_limit) {
    result.end = ChildResult::End::kMemory;
  } else if ((stop && stop()) || (command.watch && command.watch(pid))) {
    result.end = ChildResult::End::kStopped;
  } else if (time.used() > command.timeout) {
    result.end = ChildResult::End::kTimeout;
  } else if (const int signal = time.stopped_for_good()) {
    result.end = ChildResult::End::kSuspended;
    result.code = signal;
  } else {
    return false;
  }
  return true;
}

/// Everything that exec needs, prepared before the fork. Nothing may allocate between fork and exec, because another
/// thread may have held the allocator's lock at the fork.
struct Prepared {
  std::optional<HugePagesSwitch> huge_pages;
  std::vector<std::string> strings;
  std::vector<char*> argv;
  std::vector<char*> envp;
};

Prepared prepare(const ChildCommand& command) {
  Prepared prepared;
  prepared.huge_pages = switch_for(command.huge_pages);
  prepared.strings.push_back(command.program);
  for (const std::string& argument : command.arguments) prepared.strings.push_back(argument);
  const std::size_t arguments = prepared.strings.size();
  for (std::string& entry : environment_with(command.environment)) prepared.strings.push_back(std::move(entry));
  for (std::size_t i = 0; i < prepared.strings.size(); ++i) {
    (i < arguments ? prepared.argv : prepared.envp).push_back(prepared.strings[i].data());
  }
  prepared.argv.push_back(nullptr);
  prepared.envp.push_back(nullptr);
  return prepared;
}

void write_file(const char* path, const char* text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t written = ::write(fd, text, std::strlen(text));
  ::close(fd);
}

/// Turns the forked child into the command. Makes only calls that are safe after a fork of a process with threads.
[[noreturn]] void become(const ChildCommand& command, const Prepared& prepared, pid_t parent, int out, int err,
                         int failure) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // the parent ended before the prctl
  write_file("/proc/self/oom_score_adj", "1000");
  // Deterministic metrics need the same layout every time. Where a container forbids this, the layout stays random.
  if (command.fixed_layout) ::personality(ADDR_NO_RANDOMIZE);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(null, STDIN_FILENO);
  if (out >= 0) ::dup2(out, STDOUT_FILENO);
  if (err >= 0) ::dup2(err, STDERR_FILENO);
  if (command.inherited_fd >= 0) ::fcntl(command.inherited_fd, F_SETFD, 0);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_DFL);
  const auto& huge = prepared.huge_pages;
  if (!huge || ::prctl(PR_SET_THP_DISABLE, huge->disabled, huge->flags, 0, 0) == 0) {
    ::execve(command.program.c_str(), prepared.argv.data(), prepared.envp.data());
  }
  const int reason = errno;
  [[maybe_unused]] const ssize_t written = ::write(failure, &reason, sizeof reason);
  ::_exit(127);
}

void reap(pid_t pid, ChildResult& result) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  // Kills the processes that the child left running in its group. Their reaper is zerotax (run_child), so that no
  // zombies remain in a container whose process 1 does not reap.
  ::kill(-pid, SIGKILL);
  while (::waitpid(-pid, nullptr, 0) > 0 || errno == EINTR) {
  }
  if (result.end != ChildResult::End::kNotStarted) return;  // we killed the child, and the reason is already set
  if (WIFSIGNALED(status)) {
    result.end = ChildResult::End::kSignalled;
    result.code = WTERMSIG(status);
  } else {
    result.end = ChildResult::End::kExited;
    result.code = WEXITSTATUS(status);
  }
}

/// Reads from the pipe, keeps the first 64 KiB of its text, and closes the pipe at its end.
void drain(UniqueFd& fd, std::string& text) {
  char buffer[4096];
  const ssize_t got = ::read(fd.get(), &buffer[0], sizeof buffer);
  if (got <= 0) {
    if (got == 0 || (errno != EINTR && errno != EAGAIN)) fd.reset();
    return;
  }
  const std::size_t room = kCaptureBytes - std::min(kCaptureBytes, text.size());
  text.append(&buffer[0], std::min(room, static_cast<std::size_t>(got)));
}

/// Waits for a child to end, enforces the limits of its command, and collects its output. Kills the child and its group
/// if they exceed a limit. Sets `used`, and also `end` and `code` if this function killed the child. Does not reap the
/// child.
void watch_child(pid_t pid, const ChildCommand& command, const std::function<bool()>& stop, UniqueFd& out,
                 UniqueFd& err, ChildResult& result) {
  const UniqueFd process = open_pidfd(pid);
  Stopwatch time;
  bool killed = false;
  while (!killed) {
    pollfd waits[3] = {{process.get(), POLLIN, 0}, {out.get(), POLLIN, 0}, {err.get(), POLLIN, 0}};
    // Without pidfd (before Linux 5.3), the child is checked every millisecond.
    ::poll(&waits[0], 3, !process ? 1 : command.watch ? kCloseWatchMs : kWatchMs);
    if (out && waits[1].revents != 0) drain(out, result.output);
    if (err && waits[2].revents != 0) drain(err, result.errors);
    time.look(pid);
    if (has_ended(pid)) break;
    killed = is_over_limit(pid, command, stop, time, result);
  }
  if (killed) {
    ::kill(-pid, SIGKILL);
    ::kill(pid, SIGKILL);
  }
  result.used = time.used();
}

}  // namespace

int stopped_by(pid_t child) {
  siginfo_t info{};
  const bool stopped =
      ::waitid(P_PID, static_cast<id_t>(child), &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
  return stopped ? info.si_status : 0;
}

bool stopped_itself(pid_t process) {
  std::error_code failure;
  for (const auto& task : fs::directory_iterator("/proc/" + std::to_string(process) + "/task", failure)) {
    std::ifstream file(task.path() / "syscall");
    std::string line;
    if (std::getline(file, line) && sends_stop(line)) return true;
  }
  return false;
}

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& changes) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view key = text.substr(0, text.find('='));
    bool replaced = false;
    for (const auto& [name, value] : changes) replaced = replaced || name == key;
    if (!replaced) entries.emplace_back(text);
  }
  for (const auto& [name, value] : changes) entries.push_back(std::string(name).append("=").append(value));
  return entries;
}

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

bool can_fix_layout() {
  constexpr unsigned long kAsk = 0xffffffff;
  const int before = ::personality(kAsk);
  if (before < 0 || ::personality(static_cast<unsigned long>(before) | ADDR_NO_RANDOMIZE) < 0) return false;
  ::personality(static_cast<unsigned long>(before));
  return true;
}

ChildResult run_child(const ChildCommand& command, const std::function<bool()>& stop) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const Prepared prepared = prepare(command);
  Pipe failure = make_pipe();
  Pipe out = command.capture ? make_pipe() : Pipe{};
  Pipe err = command.capture ? make_pipe() : Pipe{};
  ChildResult result;
  // If a pipe were missing, the child would write to our own streams.
  if (!failure.write_end || (command.capture && (!out.write_end || !err.write_end))) {
    result.code = errno;
    result.failed_call = "pipe";
    return result;
  }

  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    result.code = errno;
    result.failed_call = "fork";
    return result;
  }
  if (pid == 0) {
    become(command, prepared, parent, out.write_end.get(), err.write_end.get(), failure.write_end.get());
  }
  ::setpgid(pid, pid);  // both parent and child make this call, because either may run first
  failure.write_end.reset();
  out.write_end.reset();
  err.write_end.reset();
  int reason = 0;
  // The read returns at the exec, which closes the other end of the pipe.
  const bool not_started = ::read(failure.read_end.get(), &reason, sizeof reason) == sizeof reason;
  watch_child(pid, command, stop, out.read_end, err.read_end, result);
  reap(pid, result);
  if (not_started) {
    result.end = ChildResult::End::kNotStarted;
    result.code = reason;
    result.failed_call = "exec";
    return result;
  }
  for (auto [pipe, text] : {std::pair{&out, &result.output}, {&err, &result.errors}}) {
    if (!pipe->read_end) continue;
    ::fcntl(pipe->read_end.get(), F_SETFL, O_NONBLOCK);
    for (std::size_t before = text->size() + 1; pipe->read_end && text->size() != before;) {
      before = text->size();
      drain(pipe->read_end, *text);
    }
  }
  return result;
}

}  // namespace zerotax
