#include "run/helper_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/lines.h"
#include "base/printable.h"
#include "files/folders.h"
#include "os/machine_trouble.h"
#include "run/interrupt.h"

namespace zerotax {

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return first_characters(printable(text.substr(text.rfind('\n') + 1)), 160);
}

std::string how_it_ended(const ChildResult& child, std::chrono::duration<double> timeout) {
  using End = ChildResult::End;
  switch (child.end) {
    case End::kExited:
      return fmt::format("exited with status {}", child.code);
    case End::kSignalled:
      return "killed by " + signal_name(child.code);
    case End::kSuspended:
      return fmt::format("stopped by {}, and not continued", signal_name(child.code));
    case End::kTimeout:
      return fmt::format("not done after {:.3g} s", timeout.count());
    case End::kMemory:
      return "out of memory";
    case End::kStopped:
      return "interrupted";
    case End::kNotStarted:
      break;
  }
  return fmt::format("could not be started: {}", std::strerror(child.code));
}

ChildVerdict judge(const ChildResult& child, std::chrono::milliseconds timeout) {
  using End = ChildResult::End;
  const std::string how = how_it_ended(child, timeout);
  switch (child.end) {
    case End::kExited:
      if (child.code == 0) return {"ok", ""};
      return {"failed", fmt::format("{}: {}", how, last_line(child.errors))};
    case End::kSignalled:
    case End::kSuspended:
      return {"crashed", how};
    case End::kTimeout:
      return {"timeout", how};
    case End::kMemory:
      return {"crashed", how + ": its resident set exceeded twice the requested bytes plus 1 GiB"};
    case End::kStopped:
      return {"skipped", how};
    case End::kNotStarted:
      // A lack of descriptors or processes is a problem of the machine, not of the process.
      if (std::strcmp(child.failed_call, "exec") != 0) throw start_trouble("a program of zerotax", child, "");
      break;
  }
  return {"failed", how};
}

ChildResult run_helper(const HelperCommand& command) {
  end_if_stopped();
  const TemporaryFolder folder("helper");
  ChildCommand child;
  child.program = "/usr/bin/env";  // env searches PATH
  child.arguments = {command.program};
  child.arguments.insert(child.arguments.end(), command.arguments.begin(), command.arguments.end());
  child.environment = command.environment;
  child.environment.emplace_back("TMPDIR", folder.path());
  child.capture = true;
  child.fixed_layout = false;
  child.timeout = command.timeout;
  ChildResult result = run_child(child, stop_requested);
  end_if_stopped();
  if (result.end == ChildResult::End::kExited) return result;
  if (result.end == ChildResult::End::kNotStarted) throw start_trouble(command.program, result, "");
  throw_if_limited(result, fmt::format("{}: {}", command.program, how_it_ended(result, command.timeout)));
  throw MachineError(fmt::format("{}: {}", command.program, how_it_ended(result, command.timeout)),
                     "try again; check whether the program runs on its own, and whether memory is short (dmesg)");
}

namespace {

constexpr auto kTimeout = std::chrono::seconds(60);

ChildResult run_compiler(const std::string& compiler, const std::vector<std::string>& arguments) {
  return run_helper({compiler, arguments, {{"LC_ALL", "C"}}, kTimeout});
}

}  // namespace

CCompiler find_c_compiler() {
  for (const char* name : {"cc", "gcc", "clang"}) {
    const ChildResult said = run_compiler(name, {"--version"});
    if (succeeded(said)) return {name, said.output.substr(0, said.output.find('\n'))};
  }
  throw MachineError("no C compiler was found to try the reproducer with", "apt-get install gcc");
}

void compile_c(const CCompiler& compiler, const std::string& source, const std::string& program,
               const std::vector<std::string>& flags) {
  std::vector<std::string> arguments = flags;
  arguments.insert(arguments.end(), {"-pthread", source, "-o", program});
  const ChildResult result = run_compiler(compiler.path, arguments);
  if (succeeded(result)) return;
  throw MachineError(fmt::format("{} cannot compile the reproducer: {}", compiler.path,
                                 result.errors.substr(0, result.errors.find('\n'))),
                     "check whether the compiler compiles other C programs (apt-get install libc6-dev)");
}

namespace {

namespace fs = std::filesystem;

}  // namespace

ChildResult run_python(const std::string& python, const std::vector<std::string>& arguments) {
  return run_helper({python, arguments, {}});
}

std::optional<std::string> find_python(const std::vector<std::string>& modules) {
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    const ChildResult result = run_python(python, {"-c", fmt::format("import {}", fmt::join(modules, ", "))});
    if (succeeded(result)) return python;
  }
  return std::nullopt;
}

std::string folder_of_scripts(const std::string& name, const std::string& source_path, const std::string& file) {
  const fs::path self = fs::read_symlink("/proc/self/exe");
  // The path of an installed program is PREFIX/lib/zerotax/bin/zerotax.
  const fs::path prefix = self.parent_path().parent_path().parent_path().parent_path();
  for (const fs::path& candidate : {prefix / "share/zerotax" / name, fs::path(ZEROTAX_SOURCE_DIR) / source_path}) {
    std::error_code failure;
    if (fs::exists(candidate / file, failure)) return candidate.string();
  }
  return "";
}

}  // namespace zerotax
