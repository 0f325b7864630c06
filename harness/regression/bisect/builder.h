#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/fields.h"
#include "base/json.h"
#include "bisect/recipe.h"
#include "bisect/repository.h"

namespace zerotax::bisect {

/// The builds and measurements of earlier runs: $XDG_CACHE_HOME/zerotax/history, or else ~/.cache/zerotax/history. A
/// damaged entry counts as missing.
class Cache {
 public:
  /// Makes the folder if it does not exist. Throws UsageError if the folder cannot be made.
  Cache();
  explicit Cache(std::string folder) : folder_(std::move(folder)) {}

  [[nodiscard]] const std::string& folder() const { return folder_; }
  /// Returns the folder with the build of a commit by a recipe.
  [[nodiscard]] std::string build_folder(const Commit& commit, const Recipe& recipe) const;

  /// Returns the document with this name, or nothing if it does not exist.
  [[nodiscard]] std::optional<Json> read(const std::string& name) const;
  /// Writes a document in one step, because another command may read it at the same time. Ignores a failure.
  void write(const std::string& name, const Json& document) const;

 private:
  std::string folder_;
};

/// Returns 16 hexadecimal digits that identify a text (FNV-1a).
std::string digits_of(const std::string& text);

/// The result of building a version.
struct Build {
  enum class State {
    kTimeout,
    kBuilt,
    kFailed,
    kNoLibrary,
    kNoProgram
  };  ///< an unknown word in a document is read as
      ///< kTimeout
  RESULT("build");
  MEMBER(state, "Result of the build.");
  State state = State::kFailed;
  FIELD(double, seconds, "Duration of the build, in seconds.");
  FIELD(std::string, library, "Path of the library that was built; empty for a program.", kMayBeEmpty);
  FIELD(std::string, reason, "Last lines of the log of a build that failed; empty if the build succeeded.",
        kMayBeEmpty);
  bool cached = false;  ///< an earlier run built this version
  std::string log;      ///< path of the whole log
};

ENUM_WORDS(Build::State, "timeout", "built", "failed", "no_library", "no_program")

/// How to build versions.
struct Builder {
  const Cache& cache;
  const Recipe& recipe;
  unsigned jobs = 1;
  double timeout_s = 1800;
  bool again = false;  ///< whether to repeat builds of earlier runs

  /// Returns a build, or failed build, of an earlier run; nothing if the version must be built now.
  [[nodiscard]] std::optional<Build> earlier(const Commit& commit) const;
  /// Builds a version in the workspace, unless an earlier run has built it. Compilers use ccache if it is installed.
  /// `watch` is called during the build. At the end, no process of the build is left running. Throws Stop, and
  /// MachineError if the cache cannot be written.
  Build build(Workspace& workspace, const Commit& commit, const std::function<void()>& watch) const;
  /// Puts a built version of a program into the workspace: the commit's files, and the kept files of the build.
  void put_in_place(Workspace& workspace, const Commit& commit) const;
};

}  // namespace zerotax::bisect
