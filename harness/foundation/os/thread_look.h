#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace zerotax {

/// What a thread was found doing by a look from outside, which stops nothing and which the thread does not notice.
struct ThreadLook {
  enum class State {
    kRunning,  ///< on a CPU, or ready to be
    kBlocked,
    kGone,
    kRefused,  ///< it may not be looked at: PTRACE_MODE_ATTACH is denied (ptrace(2), also by kernel.yama.ptrace_scope)
  };
  State state = State::kGone;
  // kBlocked
  long syscall = -1;  ///< the number of the system call that it waits in; -1: in none, such as in a page fault
  std::uint64_t stack_pointer = 0;
  std::uint64_t program_counter = 0;
  std::string line;  ///< all of /proc/PID/task/TID/syscall: equal only if it waits in the same call
};

/// From /proc/PID/task/TID/syscall.
ThreadLook look_at_thread(pid_t process, pid_t thread);
/// Parses that file's text; kRunning for "running".
ThreadLook parse_thread_look(const std::string& text);

/// A function of the kernel on the stack of a blocked thread.
struct KernelCall {
  std::string function;
  std::uint64_t offset = 0;
};
/// From /proc/PID/task/TID/stack, innermost first; empty if it may not be read (only root may).
std::vector<KernelCall> kernel_stack(pid_t process, pid_t thread);
std::vector<KernelCall> parse_kernel_stack(const std::string& text);

/// Copies up to `bytes` of another process's memory from an address on, as much as can be read. process_vm_readv(2).
std::vector<unsigned char> read_process_memory(pid_t process, std::uint64_t address, std::size_t bytes);

}  // namespace zerotax
