#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "os/child.h"

namespace zerotax {

/// How a program of ours ended, as results report it.
struct ChildVerdict {
  std::string status;  ///< "ok", "failed", "crashed", "timeout", or "skipped" if it was interrupted
  std::string reason;  ///< empty if ok
};

/// How a process ended, in words: "killed by SIGSEGV". `timeout`: what it was given.
std::string how_it_ended(const ChildResult& child, std::chrono::duration<double> timeout);

/// Throws MachineError if it could not be started for lack of descriptors, processes or memory.
ChildVerdict judge(const ChildResult& child, std::chrono::milliseconds timeout);

/// The last line of what a program said: of a Python traceback, what happened.
std::string last_line(std::string text);

/// A foreign program that a command needs, such as python3, cc or apt-get.
struct HelperCommand {
  std::string program;  ///< found on PATH
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  ///< added to ours, or replacing
  std::chrono::milliseconds timeout{300'000};
};

/// Runs a program to its end with its output captured. The program's temporary files lie in a folder that is removed
/// afterwards. The returned program has exited by itself, with 127 if it does not exist. Throws Stop if a signal
/// interrupted us. Throws MachineError if the program was killed, could not be started, or timed out: it is not missing
/// then.
ChildResult run_helper(const HelperCommand& command);

/// Whether the program exited with 0.
inline bool succeeded(const ChildResult& result) { return result.end == ChildResult::End::kExited && result.code == 0; }

/// env(1)'s exit status for a program that does not exist.
inline constexpr int kNoSuchProgram = 127;

/// The C compiler of this machine.
struct CCompiler {
  std::string path;
  std::string version;  ///< the first line of what --version says
};

/// The first of cc, gcc and clang on PATH that works. Throws MachineError with what to install.
CCompiler find_c_compiler();

/// Compiles one C file to a program, with nothing linked but the C library and threads, and unless other flags are
/// given with every warning an error. Throws MachineError with what the compiler said.
void compile_c(const CCompiler& compiler, const std::string& source, const std::string& program,
               const std::vector<std::string>& flags = {"-O2", "-Wall", "-Wextra", "-Werror"});

/// Runs python with these arguments, and captures its output (run/helper_program.h).
ChildResult run_python(const std::string& python, const std::vector<std::string>& arguments);

/// A python that can import all of the modules: `python3` on PATH (which may be a private build without Debian's
/// modules), else /usr/bin/python3. Nothing if neither can.
std::optional<std::string> find_python(const std::vector<std::string>& modules);

/// A folder of the source tree that this was built from, or share/zerotax/<name> of an installed tree; empty if it has
/// no such file.
std::string folder_of_scripts(const std::string& name, const std::string& source_path, const std::string& file);

}  // namespace zerotax
