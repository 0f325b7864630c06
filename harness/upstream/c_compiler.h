#pragma once

#include <string>

namespace zerotax::upstream {

/// The C compiler of this machine.
struct CCompiler {
  std::string path;
  std::string version;  ///< the first line of what --version says
};

/// The first of cc, gcc and clang on PATH that works. Throws MachineError with what to install.
CCompiler find_c_compiler();

/// Compiles one C file to a program, with every warning an error and nothing linked but the C library and threads.
/// Throws MachineError with what the compiler said.
void compile_c(const CCompiler& compiler, const std::string& source, const std::string& program);

}  // namespace zerotax::upstream
