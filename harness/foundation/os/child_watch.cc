#include "os/child_watch.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "os/memory.h"
#include "os/pidfd.h"
#include "os/stopped.h"

namespace zerotax {
namespace {

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

}  // namespace

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

}  // namespace zerotax
