#include "os/helper_process.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "os/clock.h"
#include "os/pipe.h"

namespace zerotax {
namespace {

constexpr std::int64_t kStartMs = 10'000;

/// posix_spawn, not fork: it neither runs the allocator's fork handlers nor has its pages copied on the next write.
int spawn(pid_t& pid, const char* program, const char* argument, int input, int output) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  char* const argv[] = {const_cast<char*>(program), const_cast<char*>(argument), nullptr};
  char* const environment[] = {nullptr};
  const int failure = ::posix_spawn(&pid, program, &actions, nullptr, &argv[0], &environment[0]);
  ::posix_spawn_file_actions_destroy(&actions);
  return failure;
}

}  // namespace

const char* HelperProcess::start(const char* program, const char* argument) {
  Pipe input = make_pipe();
  Pipe output = make_pipe();
  if (!input.read_end || !output.read_end) return "no pipe to the server";
  lifeline_ = std::move(input.write_end);
  if (const int failure = spawn(pid_, program, argument, input.read_end.get(), output.write_end.get())) {
    pid_ = -1;
    lifeline_.reset();
    return failure == ENOENT ? "its server is not there: install libssl-dev, then build again"
                             : "its server could not be started";
  }
  output.write_end.reset();
  const char* why = read_greeting(output.read_end.get());
  if (why != nullptr) stop();
  return why;
}

const char* HelperProcess::read_greeting(int fd) {
  const std::int64_t deadline = monotonic_ns() + kStartMs * 1'000'000;
  std::size_t length = 0;
  greeting_[0] = '\0';
  while (std::strstr(&greeting_[0], "\n\n") == nullptr) {
    const std::int64_t left = (deadline - monotonic_ns()) / 1'000'000;
    pollfd wait{fd, POLLIN, 0};
    if (left <= 0 || ::poll(&wait, 1, static_cast<int>(left)) == 0) return "its server said nothing for 10 s";
    const ssize_t got = ::read(fd, &greeting_[length], sizeof greeting_ - 1 - length);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return "its server ended before it was ready";
    length += static_cast<std::size_t>(got);
    greeting_[length] = '\0';
  }
  return nullptr;
}

void HelperProcess::stop() {
  if (pid_ < 0) return;
  lifeline_.reset();
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

void HelperProcess::end_with_parent() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have ended before that: then the lifeline has, too. Signals are for the parent to heed.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  pthread_t watcher{};
  const int failure = ::pthread_create(
      &watcher, nullptr,
      [](void*) -> void* {
        char nothing = 0;
        while (::read(STDIN_FILENO, &nothing, 1) > 0 || errno == EINTR) {
        }
        ::_exit(0);
      },
      nullptr);
  if (failure != 0) ::_exit(1);
}

bool path_beside_this_program(const char* name, char* path, std::size_t bytes) {
  const ssize_t length = ::readlink("/proc/self/exe", path, bytes);
  if (length <= 0 || static_cast<std::size_t>(length) >= bytes) return false;
  path[length] = '\0';
  char* slash = std::strrchr(path, '/');
  if (slash == nullptr) return false;
  const std::size_t room = bytes - static_cast<std::size_t>(slash + 1 - path);
  return static_cast<std::size_t>(std::snprintf(slash + 1, room, "%s", name)) < room;
}

}  // namespace zerotax
