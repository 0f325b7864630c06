#include "os/child.h"

#include <fcntl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "os/child_watch.h"
#include "os/pipe.h"

namespace zerotax {
namespace {

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

}  // namespace

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
