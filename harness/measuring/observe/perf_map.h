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

/// Names of ranges of addresses, as the lines of a perf map give them: "ADDRESS SIZE NAME", both numbers hexadecimal.
/// A later name replaces those that it overlaps: code is thrown away, and its memory used again.
class PerfMapNames {
 public:
  struct Entry {
    std::uint64_t begin;
    std::uint64_t end;
    ScriptFunction function;
  };

  /// More of the file; it may end within a line, which the next part completes.
  void add(std::string_view text);
  void clear();
  /// The entry at an address, or nullptr.
  [[nodiscard]] const Entry* find(std::uint64_t address) const;
  [[nodiscard]] bool empty() const { return by_begin_.empty(); }
  /// How many lines are damaged, and which is the first: "3 lines are damaged, the first is line 7"; empty if none is.
  [[nodiscard]] std::string damage() const;

 private:
  bool add_line(std::string_view line);

  std::map<std::uint64_t, Entry> by_begin_;
  std::string rest_;  ///< of a line
  std::uint64_t lines_ = 0;
  std::uint64_t damaged_ = 0;
  std::uint64_t first_damaged_ = 0;
};

/// The functions of the scripts that a process runs, by the addresses of the code that its interpreter made of them: in
/// memory that is no file's. A child of fork also has those of its parent.
class PerfMap {
 public:
  explicit PerfMap(pid_t pid, std::int64_t not_before_s = 0) : file_(pid, not_before_s) {}
  PerfMap(pid_t pid, std::shared_ptr<PerfMap> parent, std::int64_t not_before_s = 0)
      : file_(pid, not_before_s), parent_(std::move(parent)) {}

  /// What is at an address, or nullptr. Valid until the next call. The file is read on as it grows, at most every 10
  /// ms.
  const PerfMapNames::Entry* find(std::uint64_t address);
  /// Reads what is new in the file.
  void read();
  /// Whether it, or its parent's, names anything.
  [[nodiscard]] bool empty() const;
  /// What is wrong with the file, in one line with its path; empty if nothing is.
  [[nodiscard]] std::string problem() const;

 private:
  PerfMapFile file_;
  PerfMapNames names_;
  std::shared_ptr<PerfMap> parent_;
  std::chrono::steady_clock::time_point next_read_;
};

}  // namespace zerotax
