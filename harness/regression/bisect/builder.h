#pragma once

#include <functional>
#include <string>

#include "bisect/cache.h"
#include "bisect/workspace.h"

namespace zerotax::bisect {

/// What became of building a version.
struct Build {
  enum class State { kBuilt, kFailed, kNoLibrary, kTimeout, kNoProgram };
  State state = State::kFailed;
  bool cached = false;  ///< by an earlier run
  double seconds = 0;   ///< that it took, when it was built
  std::string library;  ///< path, if it was built; empty for a program
  std::string reason;   ///< the last lines of its log and more; empty if it was built
  std::string log;      ///< path of the whole log
};

/// How versions are built.
struct Builder {
  const Cache& cache;
  const Recipe& recipe;
  unsigned jobs = 1;
  double timeout_s = 1800;
  bool again = false;  ///< even what an earlier run built

  /// What an earlier run has built, or failed to; nothing if that must be tried now.
  [[nodiscard]] std::optional<Build> earlier(const Commit& commit) const;
  /// Builds a version in the workspace, unless an earlier run has. Compilers go through ccache if it is installed.
  /// `watch` is called while it runs. Nothing that it started is left running. Throws Stop, and MachineError if
  /// the cache cannot be written.
  Build build(Workspace& workspace, const Commit& commit, const std::function<void()>& watch) const;
  /// Puts a version of a program that was built into the workspace: the commit's files, and what was kept of the build.
  void put_in_place(Workspace& workspace, const Commit& commit) const;
};

}  // namespace zerotax::bisect
