#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/json.h"
#include "bisect/recipe.h"
#include "bisect/repository.h"

namespace zerotax::bisect {

/// What earlier runs built and measured: $XDG_CACHE_HOME/zerotax/history, else ~/.cache/zerotax/history. A damaged
/// entry counts as none.
class Cache {
 public:
  /// Throws UsageError if there is no such folder and none can be made.
  Cache();
  explicit Cache(std::string folder) : folder_(std::move(folder)) {}

  [[nodiscard]] const std::string& folder() const { return folder_; }
  /// The folder of what a recipe made of a commit.
  [[nodiscard]] std::string build_folder(const Commit& commit, const Recipe& recipe) const;

  /// A document of this name; nothing if there is none.
  [[nodiscard]] std::optional<Json> read(const std::string& name) const;
  /// Another command may read it at the same time: it is whole, or not there. If it cannot be written, it is left out.
  void write(const std::string& name, const Json& document) const;

 private:
  std::string folder_;
};

/// 16 digits that differ for different texts (FNV-1a).
std::string digits_of(const std::string& text);

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
