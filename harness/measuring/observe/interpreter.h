#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/fields.h"

namespace zerotax {

/// An interpreter whose scripts' functions have no symbols of their own.
struct Interpreter {
  std::string name;        ///< name and version, such as "CPython 3.11"; empty if the file is no known interpreter
  std::string remedy;      ///< setting that makes the interpreter name its functions
  bool by_stacks = false;  ///< whether functions are found only in stacks, because their code only calls the
                           ///< interpreter's loop
};

/// Returns the interpreter for the path of a program or library, such as python3.11, libpython3.12.so.1.0, node,
/// ruby3.1 or libruby-3.1.so.3.1.
Interpreter interpreter_of(const std::string& path);

struct InterpreterNames {
  RESULT("script names", "An interpreter, and the source of its functions' names.");
  FIELD(std::string, interpreter, "Name and version of the interpreter, such as CPython 3.12.");
  FIELD(Measured<std::string>, names,
        "Source of the functions' names. perf map: the file /tmp/perf-PID.map. frames: the interpreter's structures in "
        "memory, read by the recorder. n/a with a remedy if no function has a name.",
        one_of("perf map|frames"));
  FIELD(std::string, problem, "Problem with the file /tmp/perf-PID.map, in one line; empty if there is no problem.",
        kMayBeEmpty);
};

/// For each interpreter that ran, the source of the names of script functions, or the reason why there are no names.
/// All commands that show functions use this class (profile, record, cow).
class ScriptNames {
 public:
  /// Adds a process that had this file mapped. `named` says whether the process's perf map names functions, and
  /// `problem` describes a problem of that map.
  void add(const std::string& path, bool named, const std::string& problem);
  void add(const ScriptNames& other);
  /// Notes that, for a CPython with this path, the recorder has read the names from the interpreter's own structures.
  void add_frames(const std::string& path);
  /// Notes that no stacks were taken. Functions that CPython interprets are found only in stacks; compiled functions
  /// are found without stacks.
  void without_stacks(const std::string& remedy) { without_stacks_ = remedy; }

  [[nodiscard]] std::vector<InterpreterNames> list() const;

 private:
  struct Found {
    std::string remedy;
    bool by_stacks = false;
    bool named = false;
    std::string problem;
    bool by_frames = false;
  };
  void merge(const std::string& name, const Found& more);

  std::map<std::string, Found> by_name_;
  std::string without_stacks_;
};

/// Returns a sentence for each interpreter without names, or with a damaged map.
std::vector<std::string> script_names_warnings(const std::vector<InterpreterNames>& interpreters);
/// Formats the warnings of script_names_warnings() as lines for a terminal.
std::string script_names_lines(const std::vector<InterpreterNames>& interpreters);

}  // namespace zerotax
