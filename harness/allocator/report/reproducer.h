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

/// The result of a reproducer under one allocator. A reproducer exits with 1 if the finding shows, and with 0 if not.
struct ReproducerRun {
  RESULT("reproduced", "One run of the reproducer.");
  FIELD(std::string, allocator, "Name of the allocator.");
  FIELD(Measured<std::string>, version, "Version of the allocator.");
  FIELD(OrNull<std::string>, preload, "Path of the preloaded library; null for the C library's own malloc.",
        kMayBeEmpty);
  MEMBER(env, "Environment variables that configure the allocator.", kMayBeEmpty);
  std::map<std::string, std::string> env;
  FIELD(Measured<int>, exit_status,
        "Exit status of the program: 1 if the finding shows, 0 if not; n/a if the program did not exit by itself.",
        kAnySign);
  FIELD(std::string, output, "Output of the program.", kMayBeEmpty);
  // Members that are not in the document:
  std::string ended;  ///< end of the process in words, such as "exit status 1"
  std::string errors;

  [[nodiscard]] bool shows() const { return exit_status.value_or(2) == 1; }
  [[nodiscard]] bool does_not_show() const { return exit_status.value_or(2) == 0; }
};

/// A compiled reproducer in a temporary folder, which is removed with this object.
class ReproducerProgram {
 public:
  /// Compiles the source. Throws MachineError if that fails.
  ReproducerProgram(const CCompiler& compiler, const std::string& source);

  /// Runs the program under an allocator from resolve_reproducer_allocator().
  [[nodiscard]] ReproducerRun run(const Allocator& allocator) const;

 private:
  TemporaryFolder folder_{"reproducer"};
};

/// Returns the allocator for running a C program: `preload` is its library, or empty for the C library itself.
Allocator resolve_reproducer_allocator(const Allocator& allocator);

/// Texts in a reproducer.
struct ReproducerWords {
  std::string title;  ///< description of the finding
  std::string how;    ///< command that compiles and runs the program
};

/// Returns whether there is a reproducer for findings with this name.
bool has_reproducer(const std::string& finding_name);

/// Returns all possible names of findings: a rule, and a suffix that distinguishes its findings.
std::vector<std::string> finding_names();

/// Returns whether an id has the form of a finding's id for this allocator: its name, the name of a finding, and a
/// size.
bool is_possible_id(const std::string& id, const std::string& allocator);

/// Returns a C program of at most 40 lines that exits with 1 if the finding shows, and with 0 if not. The program comes
/// from harness/allocator/report/reproducers, and needs a C compiler and the C library. Throws std::logic_error if the
/// finding has no program.
std::string reproducer_source(const Finding& finding, const ReproducerWords& words);

/// Returns the probable cause of a finding without knowledge of the allocator's source.
std::string hypothesis(const Finding& finding);

}  // namespace zerotax::report
