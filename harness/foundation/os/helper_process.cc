#include "os/helper_process.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "os/clock.h"
#include "os/unique_fd.h"

namespace zerotax {
namespace {

constexpr std::int64_t kStartMs = 10'000;

/// Uses posix_spawn instead of fork, so that the allocator's fork handlers do not run, and this process's later writes
/// do not copy pages.
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

MessageWriter& MessageWriter::number(std::uint64_t value) {
  bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  return *this;
}

MessageWriter& MessageWriter::text(std::string_view value) {
  number(value.size());
  bytes_.append(value);
  return *this;
}

MessageWriter& MessageWriter::all(const MessageWriter& other) {
  bytes_.append(other.bytes_);
  return *this;
}

std::uint64_t MessageReader::number() {
  std::uint64_t value = 0;
  if (rest_.size() < sizeof value) {
    rest_ = {};
    intact_ = false;
    return 0;
  }
  std::memcpy(&value, rest_.data(), sizeof value);
  rest_.remove_prefix(sizeof value);
  return value;
}

std::string_view MessageReader::text() {
  const std::uint64_t bytes = number();
  if (bytes > rest_.size()) {
    rest_ = {};
    intact_ = false;
    return {};
  }
  const std::string_view value = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return value;
}

std::size_t MessageReader::count(std::size_t each) {
  const std::uint64_t parts = number();
  if (parts > rest_.size() / each) {
    rest_ = {};
    intact_ = false;
    return 0;
  }
  return parts;
}

bool MessageSocket::send(std::string_view bytes, int descriptor) {
  if (bytes.size() > kMostBytes) return false;
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptor)]{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = &control[0];
    message.msg_controllen = sizeof control;
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(bytes.size());
}

std::optional<std::string_view> MessageSocket::receive(UniqueFd* descriptor) {
  buffer_.resize(kMostBytes);
  iovec part{buffer_.data(), buffer_.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor != nullptr) {
    message.msg_control = &control[0];
    message.msg_controllen = sizeof control;
  }
  ssize_t got = 0;
  do {
    got = ::recvmsg(fd_.get(), &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  const cmsghdr* head = descriptor != nullptr ? CMSG_FIRSTHDR(&message) : nullptr;
  if (head != nullptr && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
    int received = -1;
    std::memcpy(&received, CMSG_DATA(head), sizeof received);
    *descriptor = UniqueFd(received);
  }
  if (got <= 0 || (message.msg_flags & MSG_TRUNC) != 0) return std::nullopt;
  return std::string_view(buffer_.data(), static_cast<std::size_t>(got));
}

const char* HelperProcess::start(const char* program, const char* argument) {
  Pipe input = make_pipe();
  Pipe output = make_pipe();
  if (!input.read_end || !output.read_end) return "a pipe to the server cannot be made";
  lifeline_ = std::move(input.write_end);
  if (const int failure = spawn(pid_, program, argument, input.read_end.get(), output.write_end.get())) {
    pid_ = -1;
    lifeline_.reset();
    return failure == ENOENT ? "its server does not exist: install libssl-dev, then build again"
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
    if (left <= 0 || ::poll(&wait, 1, static_cast<int>(left)) == 0) return "its server did not answer for 10 s";
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
  // If the parent ended before this prctl, standard input has ended too, so the watcher below ends the helper. Signals
  // from the terminal are left to the parent.
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
