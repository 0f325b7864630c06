#pragma once

#include <string>
#include <vector>

namespace zerotax {

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

}  // namespace zerotax
