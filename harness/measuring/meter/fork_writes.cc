#include "meter/fork_writes.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "meter/meter.h"
#include "os/clock.h"
#include "os/faults.h"
#include "os/unique_fd.h"

namespace zerotax {
namespace {

/// Sends one byte to the other process. The byte means "done" or "continue".
bool tell(int fd) {
  const char word = 1;
  return ::send(fd, &word, 1, MSG_NOSIGNAL) == 1;
}

/// Waits for a byte from the other process. Returns false if the other process has ended.
bool hear(int fd) {
  char word = 0;
  ssize_t got = 0;
  do {
    got = ::read(fd, &word, 1);
  } while (got < 0 && errno == EINTR);
  return got == 1;
}

std::size_t page_count(const AddressRange& block) { return block.pages().bytes() / page_bytes(); }

[[noreturn]] void be_child(int fd, const AddressRange& block, ForkSteps& steps, WriteSample& sample) {
  // If the parent is killed, the child must end too.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  steps.child_begins();
  steps.write(block, (page_count(block) + 3) / 4, sample);
  if (tell(fd)) hear(fd);
  ::_exit(0);
}

}  // namespace

void ForkSteps::write(const AddressRange& block, std::size_t pages, WriteSample& /*sample*/) {
  const std::size_t bytes = page_bytes();
  for (std::size_t page = 0; page < pages; ++page) *byte_in_page(block, page, bytes) = 0x5a;
}

void TimedForkSteps::before_fork(const AddressRange& /*block*/) { start_ = monotonic_ns(); }

void TimedForkSteps::after_fork() { sample_.fork_ns = monotonic_ns() - start_; }

void TimedForkSteps::child_begins() {
  // Reads each clock and counter once, and writes to this code's stack. The child thus takes the faults of its first
  // reading and first write outside of the measured window.
  unsigned char own[2 * kMostPageBytes];
  const auto end = reinterpret_cast<std::uintptr_t>(&own[0]) + sizeof own;
  WriteSample unused{};
  write({end - 2 * page_bytes(), end}, 1, unused);
  escape(&own[0]);
}

void TimedForkSteps::write(const AddressRange& block, std::size_t pages, WriteSample& sample) {
  const std::int64_t faults = thread_minor_faults();
  const std::int64_t start = monotonic_ns();
  ForkSteps::write(block, pages, sample);
  const std::int64_t end = monotonic_ns();
  const std::int64_t faults_after = thread_minor_faults();
  // The sample is written only now, because it is in shared memory, and a new child has not populated the page of the
  // sample yet.
  sample.write_ns = end - start;
  if (faults >= 0) sample.faults = faults_after - faults;
}

void TimedForkSteps::before_exit() { start_ = monotonic_ns(); }

void TimedForkSteps::after_exit() { sample_.exit_ns = monotonic_ns() - start_; }

const char* fork_and_write(void* block, std::size_t bytes, ForkSteps& steps, ForkSample& sample) {
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  const AddressRange range{begin, begin + bytes};
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, &ends[0]) != 0)
    return "a socket for communication with the child cannot be created";
  UniqueFd mine(ends[0]);
  UniqueFd childs(ends[1]);

  steps.before_fork(range);
  const pid_t pid = ::fork();
  if (pid == 0) {
    mine = UniqueFd();
    be_child(childs.get(), range, steps, sample.child);
  }
  steps.after_fork();
  if (pid < 0) return errno == ENOMEM ? "fork failed: no memory" : "fork failed: too many processes";
  childs = UniqueFd();

  const bool child_wrote = hear(mine.get());
  if (child_wrote) steps.write(range, (page_count(range) + 1) / 2, sample.parent);
  steps.before_exit();
  mine = UniqueFd();
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  steps.after_exit();
  if (!child_wrote && WIFSIGNALED(status)) return "the forked child was killed during its writes (out of memory?)";
  return child_wrote ? nullptr : "the forked child ended before it had written";
}

}  // namespace zerotax
