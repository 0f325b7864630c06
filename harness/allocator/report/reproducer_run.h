#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/fields.h"
#include "files/temporary_folder.h"
#include "point/allocator.h"
#include "run/c_compiler.h"

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

}  // namespace zerotax::report
