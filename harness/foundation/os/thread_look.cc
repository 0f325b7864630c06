#include "os/thread_look.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <sstream>

#include "os/page.h"
#include "os/unique_fd.h"

namespace zerotax {
namespace {

/// Reads a /proc file of at most a few KiB. Returns errno, or 0.
int read_text(const std::string& path, std::string& text) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return errno;
  char buffer[8192];
  const ssize_t got = ::read(file.get(), &buffer[0], sizeof buffer);
  if (got < 0) return errno;
  text.assign(&buffer[0], static_cast<std::size_t>(got));
  return 0;
}

std::string task_file(pid_t process, pid_t thread, const char* name) {
  return fmt::format("/proc/{}/task/{}/{}", process, thread, name);
}

}  // namespace

ThreadLook parse_thread_look(const std::string& text) {
  ThreadLook look;
  look.line = text;
  look.state = ThreadLook::State::kRunning;
  std::istringstream words(text);
  std::vector<std::string> all;
  for (std::string word; words >> word;) all.push_back(word);
  // The text contains the system call's number, six arguments unless the number is -1, the stack pointer, and the
  // program counter.
  if (all.size() != 3 && all.size() != 9) return look;
  look.state = ThreadLook::State::kBlocked;
  look.syscall = std::strtol(all[0].c_str(), nullptr, 10);
  look.stack_pointer = std::strtoull(all[all.size() - 2].c_str(), nullptr, 16);
  look.program_counter = std::strtoull(all[all.size() - 1].c_str(), nullptr, 16);
  return look;
}

ThreadLook look_at_thread(pid_t process, pid_t thread) {
  std::string text;
  const int error = read_text(task_file(process, thread, "syscall"), text);
  if (error == 0 && !text.empty()) return parse_thread_look(text);
  ThreadLook look;
  look.state = error == EPERM || error == EACCES ? ThreadLook::State::kRefused : ThreadLook::State::kGone;
  return look;
}

std::vector<KernelCall> parse_kernel_stack(const std::string& text) {
  std::vector<KernelCall> calls;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    // A line is like: [<0>] futex_wait_queue+0x60/0x90
    const auto begin = line.find("] ");
    const auto plus = line.rfind('+');
    if (begin == std::string::npos || plus == std::string::npos || plus < begin + 2) continue;
    calls.push_back({line.substr(begin + 2, plus - begin - 2), std::strtoull(line.c_str() + plus + 1, nullptr, 16)});
  }
  return calls;
}

std::vector<KernelCall> kernel_stack(pid_t process, pid_t thread) {
  std::string text;
  if (read_text(task_file(process, thread, "stack"), text) != 0) return {};
  return parse_kernel_stack(text);
}

std::vector<unsigned char> read_process_memory(pid_t process, std::uint64_t address, std::size_t bytes) {
  std::vector<unsigned char> memory;
  const UniqueFd file(::open(fmt::format("/proc/{}/mem", process).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return memory;
  memory.resize(bytes);
  const ssize_t got = ::pread(file.get(), memory.data(), bytes, static_cast<off_t>(address));
  memory.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return memory;
}

}  // namespace zerotax
