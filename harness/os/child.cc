#include "os/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "os/memory.h"
#include "os/pipe.h"

namespace zerotax {
namespace {

constexpr std::size_t kCaptureBytes = std::size_t{64} * 1024;
constexpr int kWatchMs = 20;

/// Everything exec needs, made before the fork: between fork and exec nothing may allocate, for another thread may have
/// held the allocator's lock.
struct Prepared {
  std::vector<std::string> strings;
  std::vector<char*> argv;
  std::vector<char*> envp;
};

Prepared prepare(const ChildCommand& command) {
  Prepared prepared;
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view key = text.substr(0, text.find('='));
    bool replaced = false;
    for (const auto& [name, value] : command.environment) replaced = replaced || name == key;
    if (!replaced) environment.emplace_back(text);
  }
  for (const auto& [name, value] : command.environment)
    environment.push_back(std::string(name).append("=").append(value));

  prepared.strings.push_back(command.program);
  for (const std::string& argument : command.arguments) prepared.strings.push_back(argument);
  const std::size_t arguments = prepared.strings.size();
  for (std::string& entry : environment) prepared.strings.push_back(std::move(entry));
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
[[noreturn]] void become(const ChildCommand& command, const Prepared& prepared, int out, int err, int failure) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
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
  ::execve(command.program.c_str(), prepared.argv.data(), prepared.envp.data());
  const int reason = errno;
  [[maybe_unused]] const ssize_t written = ::write(failure, &reason, sizeof reason);
  ::_exit(127);
}

/// Takes what is in the pipe; closes it at its end.
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

void reap(pid_t pid, ChildResult& result) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  // What it left running in its group goes too. We are its reaper (run_child), so that nothing stays, not even a zombie
  // where process 1 of a container reaps none.
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

bool has_ended(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/// Waits for the end, keeping the limits.
void watch(pid_t pid, const ChildCommand& command, const std::function<bool()>& stop, UniqueFd& out, UniqueFd& err,
           ChildResult& result) {
  const auto deadline = std::chrono::steady_clock::now() + command.timeout;
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  while (true) {
    pollfd waits[3] = {{process.get(), POLLIN, 0}, {out.get(), POLLIN, 0}, {err.get(), POLLIN, 0}};
    // Without pidfd (Linux < 5.3) look every millisecond.
    ::poll(&waits[0], 3, process ? kWatchMs : 1);
    if (out && waits[1].revents != 0) drain(out, result.output);
    if (err && waits[2].revents != 0) drain(err, result.errors);
    if (has_ended(pid)) return;

    const auto resident = command.resident_limit != 0 ? resident_bytes(pid) : std::nullopt;
    if (resident && *resident > command.resident_limit) {
      result.end = ChildResult::End::kMemory;
    } else if (stop && stop()) {
      result.end = ChildResult::End::kStopped;
    } else if (std::chrono::steady_clock::now() > deadline) {
      result.end = ChildResult::End::kTimeout;
    } else {
      continue;
    }
    ::kill(-pid, SIGKILL);
    ::kill(pid, SIGKILL);
    return;
  }
}

}  // namespace

ChildResult run_child(const ChildCommand& command, const std::function<bool()>& stop) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const Prepared prepared = prepare(command);
  Pipe failure = make_pipe();
  Pipe out = command.capture ? make_pipe() : Pipe{};
  Pipe err = command.capture ? make_pipe() : Pipe{};
  ChildResult result;

  const pid_t pid = ::fork();
  if (pid < 0) {
    result.code = errno;
    return result;
  }
  if (pid == 0) {
    become(command, prepared, out.write_end.get(), err.write_end.get(), failure.write_end.get());
  }
  ::setpgid(pid, pid);  // in both, for whichever comes first
  failure.write_end.reset();
  out.write_end.reset();
  err.write_end.reset();
  int reason = 0;
  // Returns at the exec, which closes the other end.
  const bool not_started = ::read(failure.read_end.get(), &reason, sizeof reason) == sizeof reason;
  watch(pid, command, stop, out.read_end, err.read_end, result);
  reap(pid, result);
  if (not_started) {
    result.end = ChildResult::End::kNotStarted;
    result.code = reason;
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
