#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "observe/frame.h"
#include "os/perf_map_file.h"

namespace zerotax {

/// A function of a script, as named by the interpreter that generated its code.
struct ScriptFunction {
  std::string function;
  std::string file;  ///< path of the script; empty if the interpreter does not say
  int line = 0;      ///< first line of the function; 0 if unknown
  /// Whether the code is a trampoline: a few instructions that call the interpreter's loop for an uncompiled function
  /// (CPython).
  bool trampoline = false;
};

/// Parses a name of a perf map in the form of CPython ("py::work:/path/x.py") or V8 ("JS:*work /path/x.js:3:1"). Any
/// other name is taken as the function's name. Control characters are made visible.
ScriptFunction script_function(std::string_view name);

/// Converts the function to a frame. The frame's module is the file name of the script, or "perf map" if the
/// interpreter names no file.
Frame script_frame(const ScriptFunction& function);

/// Names of address ranges from the lines "ADDRESS SIZE NAME" of a perf map, with hexadecimal numbers. A later entry
/// replaces earlier entries that it overlaps, because interpreters discard code and reuse its memory.
class PerfMapNames {
 public:
  struct Entry {
    std::uint64_t begin;
    std::uint64_t end;
    ScriptFunction function;
  };

  /// Adds the next part of the file. The text may end within a line, which the next call then completes.
  void add(std::string_view text);
  void clear();
  /// Returns the entry at an address, or nullptr.
  [[nodiscard]] const Entry* find(std::uint64_t address) const;
  [[nodiscard]] bool empty() const { return by_begin_.empty(); }
  /// Returns a phrase such as "3 lines are damaged, and line 7 is the first"; empty if no line is damaged.
  [[nodiscard]] std::string damage() const;

 private:
  bool add_line(std::string_view line);

  std::map<std::uint64_t, Entry> by_begin_;
  std::string rest_;  ///< last line, which is still incomplete
  std::uint64_t lines_ = 0;
  std::uint64_t damaged_ = 0;
  std::uint64_t first_damaged_ = 0;
};

/// The script functions of a process, by the addresses of the code that its interpreter generated in anonymous memory.
/// A forked child also has the functions of its parent.
class PerfMap {
 public:
  explicit PerfMap(pid_t pid, std::int64_t not_before_s = 0) : file_(pid, not_before_s) {}
  PerfMap(pid_t pid, std::shared_ptr<PerfMap> parent, std::int64_t not_before_s = 0)
      : file_(pid, not_before_s), parent_(std::move(parent)) {}

  /// Returns the entry at an address, or nullptr. The result is valid until the next call. New lines of the file are
  /// read at most every 10 ms.
  const PerfMapNames::Entry* find(std::uint64_t address);
  /// Reads the new lines of the file.
  void read();
  /// Returns whether neither the process's own map nor its parent's map names anything.
  [[nodiscard]] bool empty() const;
  /// Returns the problem of the file in one line, with the file's path; empty if there is no problem.
  [[nodiscard]] std::string problem() const;

 private:
  PerfMapFile file_;
  PerfMapNames names_;
  std::shared_ptr<PerfMap> parent_;
  std::chrono::steady_clock::time_point next_read_;
};

}  // namespace zerotax
