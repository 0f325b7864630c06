#include "os/stopped.h"

#include <sys/syscall.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

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

}  // namespace zerotax
