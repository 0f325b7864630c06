#include "run/c_compiler.h"

#include <fmt/format.h>

#include "base/error.h"
#include "os/child.h"
#include "run/interrupt.h"

namespace zerotax {
namespace {

constexpr auto kTimeout = std::chrono::seconds(60);

ChildResult run_compiler(const std::string& compiler, const std::vector<std::string>& arguments) {
  ChildCommand command;
  // It is looked up on PATH by env.
  command.program = "/usr/bin/env";
  command.arguments = {compiler};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  command.environment = {{"LC_ALL", "C"}};
  command.capture = true;
  command.fixed_layout = false;
  command.timeout = kTimeout;
  return run_child(command, stop_requested);
}

bool succeeded(const ChildResult& result) { return result.end == ChildResult::End::kExited && result.code == 0; }

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
                     "see whether it compiles other C programs (apt-get install libc6-dev)");
}

}  // namespace zerotax
