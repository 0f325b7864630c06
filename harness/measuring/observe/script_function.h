#pragma once

#include <string>
#include <string_view>

#include "observe/frame.h"

namespace zerotax {

/// A function of a script, as its interpreter names the code that it made of it.
struct ScriptFunction {
  std::string function;
  std::string file;  ///< path of the script; empty if the interpreter does not say
  int line = 0;      ///< where the function begins; 0: not known
  /// Code of a few instructions that calls the interpreter's loop, for a function that is not compiled (CPython).
  bool trampoline = false;
};

/// Takes a name out of a perf map apart, in the forms of CPython ("py::work:/path/x.py") and V8 ("JS:*work
/// /path/x.js:3:1"); any other is the function. Control characters are made visible.
ScriptFunction script_function(std::string_view name);

/// It as a frame: the script's file name is its module; "perf map" where the interpreter names no file.
Frame script_frame(const ScriptFunction& function);

}  // namespace zerotax
