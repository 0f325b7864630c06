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

/// Which argument of a system call is the signal that it sends; -1 if it sends none.
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

/// A line of /proc/PID/task/TID/syscall: the number, six arguments in hexadecimal, stack and program counter.
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
/// The longest time that should pass between two checks: if more has passed, we were stopped ourselves
/// (SIGSTOP, Ctrl-Z), and so may the child have been.
constexpr auto kMostBetweenLooks = std::chrono::milliseconds(100);
/// A process that has stopped itself is waited for only this long, in case another of its threads or children continues
/// it.
constexpr auto kOwnStop = std::chrono::seconds(1);
/// A process that somebody else has stopped is waited for, but not for ever: a child of its own may have done it.
constexpr auto kForeignStop = std::chrono::hours(1);

bool has_ended(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/// The time in which a child could run, and in which it was stopped by a signal.
class Stopwatch {
 public:
  /// Looks at the child, and counts the time since the last look.
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
  /// The signal that has it stopped for longer than is waited for, or 0.
  [[nodiscard]] int stopped_for_good() const {
    return signal_ != 0 && stopped_ > (own_ ? Clock::duration(kOwnStop) : Clock::duration(kForeignStop)) ? signal_ : 0;
  }

 private:
  Clock::time_point last_ = Clock::now();
  Clock::duration used_{0};
  Clock::duration stopped_{0};  ///< since it was last stopped
  int signal_ = 0;              ///< at the last look
  bool own_ = false;
};

/// Whether to kill it: then `end` and `code` say why.
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

/// Everything exec needs, made before the fork: between fork and exec nothing may allocate, for another thread may have
/// held the allocator's lock.
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

/// Runs in the child. Only calls that are safe after a fork of a threaded process.
[[noreturn]] void become(const ChildCommand& command, const Prepared& prepared, pid_t parent, int out, int err,
                         int failure) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // the parent had ended before the prctl
  write_file("/proc/self/oom_score_adj", "1000");
  // Deterministic figures want the same layout every time. Containers may forbid it: then the layout is random.
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
  // The processes that it left running in its group are killed too. We are its reaper (run_child), so that nothing
  // stays, not even a zombie where process 1 of a container reaps none.
  ::kill(-pid, SIGKILL);
  while (::waitpid(-pid, nullptr, 0) > 0 || errno == EINTR) {
  }
  if (result.end != ChildResult::End::kNotStarted) return;  // we killed it, and know why
  if (WIFSIGNALED(status)) {
    result.end = ChildResult::End::kSignalled;
    result.code = WTERMSIG(status);
  } else {
    result.end = ChildResult::End::kExited;
    result.code = WEXITSTATUS(status);
  }
}

/// Takes what is in the pipe, of which the first 64 KiB are kept; closes it at its end.
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

/// Waits for the end of a child, keeping the limits of its command and collecting what it says; kills it, with its
/// group, where it passes one. Fills in `used`, and `end` and `code` if it was killed for a reason of ours. Does not
/// reap.
void watch_child(pid_t pid, const ChildCommand& command, const std::function<bool()>& stop, UniqueFd& out,
                 UniqueFd& err, ChildResult& result) {
  const UniqueFd process = open_pidfd(pid);
  Stopwatch time;
  bool killed = false;
  while (!killed) {
    pollfd waits[3] = {{process.get(), POLLIN, 0}, {out.get(), POLLIN, 0}, {err.get(), POLLIN, 0}};
    // Without pidfd (Linux < 5.3) look every millisecond.
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
  // Without one of them the child's words would come out of our own streams.
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
  ::setpgid(pid, pid);  // in both, for whichever comes first
  failure.write_end.reset();
  out.write_end.reset();
  err.write_end.reset();
  int reason = 0;
  // Returns at the exec, which closes the other end.
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
