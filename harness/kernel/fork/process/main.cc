// The process that forks for `zerotax fork`: static, and as small as it can be. It makes itself as large as its
// arguments say, reports that it is ready, and for each line on its standard input does what the record asks for.
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "fork/process/fork_run.h"
#include "fork/process/size_up.h"
#include "fork/process/timed_clone.h"

namespace zerotax {
namespace {

void say(const char* word) { [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, word, std::strlen(word)); }

[[noreturn]] void give_up(const char* what, const char* why) {
  say(what);
  say(why);
  say("\n");
  std::exit(1);
}

std::int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

TimedClone timed_spawn() {
  char self[] = "/proc/self/exe";
  char end[] = "end";
  char* const arguments[] = {self, end, nullptr};
  char* const environment[] = {nullptr};
  pid_t pid = -1;
  TimedClone timed{};
  timed.begin = time_stamp();
  const int error = ::posix_spawn(&pid, self, nullptr, nullptr, arguments, environment);
  timed.end = time_stamp();
  timed.result = error == 0 ? pid : -error;
  return timed;
}

/// CLONE_SIGHAND asks for CLONE_VM, so this is refused before anything is done.
TimedClone timed_refusal() {
  TimedClone timed = timed_clone(CLONE_SIGHAND | SIGCHLD);
  if (timed.result == -EINVAL) timed.result = 0;
  return timed;
}

TimedClone timed_child(const ForkRun& record) {
  switch (record.method) {
    case ForkMethod::kSpawn:
      return timed_spawn();
    case ForkMethod::kRefused:
      return timed_refusal();
    case ForkMethod::kClone:
      break;
  }
  return timed_clone(record.clone_flags | SIGCHLD);
}

/// Parent and child on one CPU: what a second CPU does to the time is the scheduler's, not fork's.
void stay_on_this_cpu() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(::sched_getcpu(), &one);
  ::sched_setaffinity(0, sizeof one, &one);
}

void run(ForkRun& record) {
  record.done = 0;
  record.error = 0;
  const std::int64_t start_ns = monotonic_ns();
  const std::uint64_t start = time_stamp();
  for (std::uint32_t i = 0; i < record.forks && i < kMostForks; ++i) {
    const TimedClone timed = timed_child(record);
    if (timed.result < 0) {
      record.error = static_cast<std::int32_t>(-timed.result);
      break;
    }
    if (timed.result > 0) ::waitpid(static_cast<pid_t>(timed.result), nullptr, 0);
    const std::uint64_t gone = time_stamp();
    record.call_ns[i] = static_cast<double>(timed.end - timed.begin);
    record.gone_ns[i] = static_cast<double>(gone - timed.begin);
    record.done = i + 1;
  }
  record.wall_ns = monotonic_ns() - start_ns;
  const double ns_per_tick = static_cast<double>(record.wall_ns) / static_cast<double>(time_stamp() - start);
  for (std::uint32_t i = 0; i < record.done; ++i) {
    record.call_ns[i] *= ns_per_tick;
    record.gone_ns[i] *= ns_per_tick;
  }
}

}  // namespace
}  // namespace zerotax

int main(int argc, char** argv) {
  using namespace zerotax;
  if (argc == 2 && std::strcmp(argv[1], "end") == 0) ::_exit(0);
  if (argc < 2) give_up("usage: fork-target FD [NAME=NUMBER]… [kind=NAME]", "");
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  void* memory =
      ::mmap(nullptr, sizeof(ForkRun), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, std::atoi(argv[1]), 0);
  if (memory == MAP_FAILED) give_up("cannot map its record: ", std::strerror(errno));
  auto& record = *static_cast<ForkRun*>(memory);
  if (record.magic != kForkRunMagic) give_up("the record comes from another build", "");
  TargetSize size;
  if (const char* word = parse_size(argv + 2, size)) give_up("unknown word: ", word);
  stay_on_this_cpu();
  if (const char* what = size_up(size)) {
    say(what);
    give_up(": ", std::strerror(errno));
  }
  say("ready\n\n");
  char line[64];
  while (::read(STDIN_FILENO, &line[0], sizeof line) > 0) {
    run(record);
    say("done\n");
  }
}
