#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/fields.h"

namespace zerotax {

/// An interpreter whose scripts' functions have no symbols of their own.
struct Interpreter {
  std::string name;        ///< "CPython 3.11"; empty: the file is no interpreter that is known
  std::string remedy;      ///< what makes it name them
  bool by_stacks = false;  ///< they are code that calls the interpreter's loop, and are found in stacks alone
};

/// By the path of a program or library: python3.11, libpython3.12.so.1.0, node, ruby3.1, libruby-3.1.so.3.1.
Interpreter interpreter_of(const std::string& path);

struct InterpreterNames {
  RESULT("script names", "An interpreter.");
  FIELD(std::string, interpreter, "Its name and version, such as CPython 3.12.");
  FIELD(Measured<std::string>, names,
        "perf map: of its file /tmp/perf-PID.map. n/a, with what to do, where it names none.", one_of("perf map"));
  FIELD(std::string, problem, "What is wrong with that file, in one line; empty if nothing is.", kMayBeEmpty);
};

/// Where the names of the scripts' functions came from, for each interpreter that ran, or why there are none. Computed
/// here for all that show functions (profile, record, cow).
class ScriptNames {
 public:
  /// A process had this file mapped. `named`: its perf map names functions. `problem`: of that map.
  void add(const std::string& path, bool named, const std::string& problem);
  void add(const ScriptNames& other);
  /// No stacks were taken, in which alone CPython's functions are found; those of compilers are found without.
  void without_stacks(const std::string& remedy) { without_stacks_ = remedy; }

  [[nodiscard]] std::vector<InterpreterNames> list() const;

 private:
  struct Found {
    std::string remedy;
    bool by_stacks = false;
    bool named = false;
    std::string problem;
  };
  void merge(const std::string& name, const Found& more);

  std::map<std::string, Found> by_name_;
  std::string without_stacks_;
};

/// A line for the terminal for each that has no names, or a damaged map; empty if all is well.
std::string script_names_lines(const std::vector<InterpreterNames>& interpreters);

}  // namespace zerotax
