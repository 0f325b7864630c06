#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "files/folders.h"
#include "judge/rule.h"
#include "point/plan.h"
#include "run/helper_program.h"

namespace zerotax::report {

/// How a reproducer ended under one allocator: it exits with 1 if what it looks for shows, with 0 if not.
struct ReproducerRun {
  std::string allocator;
  Measured<std::string> version;
  OrNull<std::string> preload;  ///< the library; empty for the C library's own
  std::map<std::string, std::string> env;
  Measured<int> exit_status;  ///< n/a if it did not exit by itself
  std::string ended;          ///< "exit status 1", or how else it ended
  std::string output;
  std::string errors;

  [[nodiscard]] bool shows() const { return exit_status.value_or(2) == 1; }
  [[nodiscard]] bool does_not_show() const { return exit_status.value_or(2) == 0; }
};

/// A compiled reproducer, in a folder of its own that goes with it.
class ReproducerProgram {
 public:
  /// Compiles it. Throws MachineError if that fails.
  ReproducerProgram(const CCompiler& compiler, const std::string& source);

  /// Runs it under an allocator as resolve_reproducer_allocator gives it.
  [[nodiscard]] ReproducerRun run(const Allocator& allocator) const;

 private:
  TemporaryFolder folder_{"reproducer"};
};

/// An allocator as a C program is run with it: `preload` is its library, and empty if that is the C library itself.
Allocator resolve_reproducer_allocator(const Allocator& allocator);

/// What a reproducer says of itself.
struct ReproducerWords {
  std::string title;  ///< what it shows
  std::string how;    ///< how it is compiled and run
};

/// Whether there is a reproducer for findings of this name.
bool has_reproducer(const std::string& finding_name);

/// All possible names of findings: a rule, and what distinguishes its findings.
std::vector<std::string> finding_names();

/// Whether an id could be of this allocator: its name, the name of a finding, a size.
bool is_possible_id(const std::string& id, const std::string& allocator);

/// The C program of at most 40 lines that exits with 1 if the finding shows and with 0 if not, from
/// harness/allocator/report/reproducers. It needs a C compiler and the C library. Throws std::logic_error for a finding
/// that has none.
std::string reproducer_source(const Finding& finding, const ReproducerWords& words);

/// The likely cause, judging by the finding alone: for allocators whose source was not read.
std::string hypothesis(const Finding& finding);

}  // namespace zerotax::report
