#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "os/child.h"

namespace zerotax {

/// The end of a program that zerotax starts, as reported in results.
struct ChildVerdict {
  std::string status;  ///< "ok", "failed", "crashed", "timeout", or "skipped" if it was interrupted
  std::string reason;  ///< reason for the status; empty if the status is ok
};

/// Returns how a process ended in words, such as "killed by SIGSEGV". `timeout` is the process's time limit.
std::string how_it_ended(const ChildResult& child, std::chrono::duration<double> timeout);

/// Returns the status for a process's end. Throws MachineError if the process could not be started for lack of
/// descriptors, processes or memory.
ChildVerdict judge(const ChildResult& child, std::chrono::milliseconds timeout);

/// Returns the last line of a program's output; for a Python traceback, this line is the error.
std::string last_line(std::string text);

/// A foreign program that a command needs, such as python3, cc or apt-get.
struct HelperCommand {
  std::string program;  ///< name of the program, which is searched for on PATH
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  ///< variables to add or replace
  std::chrono::milliseconds timeout{300'000};
};

/// Runs a program to its end, captures its output, and removes its temporary files. Returns only if the program exited
/// by itself; the exit status is 127 if the program does not exist. Throws Stop if a signal interrupts
/// zerotax. Throws MachineError if the program exists, but was killed, could not be started, or timed out.
ChildResult run_helper(const HelperCommand& command);

/// Returns whether the program exited with 0.
inline bool succeeded(const ChildResult& result) { return result.end == ChildResult::End::kExited && result.code == 0; }

/// env(1)'s exit status for a program that does not exist.
inline constexpr int kNoSuchProgram = 127;

/// The C compiler of this machine.
struct CCompiler {
  std::string path;
  std::string version;  ///< first line of the output of --version
};

/// Returns the first of cc, gcc and clang on PATH that works. Throws MachineError with the package to install if none
/// does.
CCompiler find_c_compiler();

/// Compiles one C file to a program, linked only with the C library and threads. By default, every warning is an error.
/// Throws MachineError with the compiler's message.
void compile_c(const CCompiler& compiler, const std::string& source, const std::string& program,
               const std::vector<std::string>& flags = {"-O2", "-Wall", "-Wextra", "-Werror"});

/// Runs Python with these arguments, and captures its output.
ChildResult run_python(const std::string& python, const std::vector<std::string>& arguments);

/// Returns a Python that can import all of the modules, or nothing. Tries `python3` on PATH, which may be a private
/// build without Debian's modules, and then /usr/bin/python3.
std::optional<std::string> find_python(const std::vector<std::string>& modules);

/// Returns a folder of the source tree of this build, or share/zerotax/<name> of an installed tree; empty if neither
/// has the file.
std::string folder_of_scripts(const std::string& name, const std::string& source_path, const std::string& file);

}  // namespace zerotax
