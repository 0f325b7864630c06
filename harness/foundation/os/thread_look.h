#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace zerotax {

/// The state of another process's thread, read from /proc without stopping the thread.
struct ThreadLook {
  enum class State {
    kRunning,  ///< the thread is on a CPU, or ready to run
    kBlocked,
    kGone,
    kRefused,  ///< inspection is denied: PTRACE_MODE_ATTACH (ptrace(2), also by kernel.yama.ptrace_scope)
  };
  State state = State::kGone;
  // only for kBlocked
  long syscall = -1;  ///< number of the system call that the thread waits in; -1 if none, for example in a page fault
  std::uint64_t stack_pointer = 0;
  std::uint64_t program_counter = 0;
  std::string line;  ///< the whole text of /proc/PID/task/TID/syscall; an unchanged text shows that the thread still
                     ///< waits in the same call
};

/// Reads /proc/PID/task/TID/syscall.
ThreadLook look_at_thread(pid_t process, pid_t thread);
/// Parses the text of /proc/PID/task/TID/syscall; "running" yields kRunning.
ThreadLook parse_thread_look(const std::string& text);

/// A function of the kernel on the stack of a blocked thread.
struct KernelCall {
  std::string function;
  std::uint64_t offset = 0;
};
/// Reads /proc/PID/task/TID/stack, innermost first. Returns nothing if the file is unreadable (only root may read it).
std::vector<KernelCall> kernel_stack(pid_t process, pid_t thread);
std::vector<KernelCall> parse_kernel_stack(const std::string& text);

/// Copies up to `bytes` of another process's memory from an address on, by /proc/PID/mem. Returns as much as can be
/// read. process_vm_readv(2) would pin the pages, and the kernel copies a shared page before it pins the page
/// (gup_must_unshare in mm/internal.h, since Linux 5.19).
std::vector<unsigned char> read_process_memory(pid_t process, std::uint64_t address, std::size_t bytes);

}  // namespace zerotax
