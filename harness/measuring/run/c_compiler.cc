#include "run/c_compiler.h"

#include <fmt/format.h>

#include "base/error.h"
#include "run/helper_program.h"

namespace zerotax {
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
                     "see whether it compiles other C programs (apt-get install libc6-dev)");
}

}  // namespace zerotax
