#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/json.h"
#include "core/allocators.h"
#include "core/temporary_folder.h"
#include "upstream/c_compiler.h"

namespace zerotax::upstream {

/// How a reproducer ended under one allocator: it exits with 1 if what it looks for shows, with 0 if not.
struct ReproducerRun {
  std::string allocator;
  std::string version;
  std::optional<std::string> preload;  ///< the library; empty for the C library's own
  std::map<std::string, std::string> env;
  std::optional<int> exit_status;  ///< empty if it did not exit by itself
  std::string ended;               ///< "exit status 1", or how else it ended
  std::string output;
  std::string errors;

  [[nodiscard]] bool shows() const { return exit_status == 1; }
  [[nodiscard]] bool does_not_show() const { return exit_status == 0; }
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

/// {"allocator", "version", "preload", "env", "exit_status", "output"}.
Json reproducer_run_json(const ReproducerRun& run);

}  // namespace zerotax::upstream
