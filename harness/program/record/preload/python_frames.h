#pragma once

#include <cstdint>

namespace zerotax::record {

/// Finds CPython 3.8 to 3.11 among the objects of the program's start. Later versions write perf maps instead.
void find_python();

/// Whether an address lies in the function that runs Python code, apart from parts that the compiler moved elsewhere.
bool is_python_loop(std::uint64_t address);

/// Maximum number of Python functions in a stack. Each function adds about half a microsecond to a call that is
/// examined.
inline constexpr std::uint32_t kPythonFrames = 2;

/// Finds at most kPythonFrames Python functions that this thread runs, innermost first. The functions are in the
/// arena's form (kScriptFrame). Returns the number of functions; 0 without CPython. The interpreter's structures are
/// read with a system call, and their types are checked. With an unknown build of CPython, names are therefore missing,
/// but nothing else is wrong. If the frames are the same as last time, one system call suffices.
std::uint32_t python_frames(std::uint64_t* functions);

}  // namespace zerotax::record
