#pragma once

#include <string>

#include "bisect/repository.h"
#include "files/folders.h"

namespace zerotax::bisect {

/// The files of one version at a time: a git worktree of our private repository (git.h), which is removed at the end.
class Workspace {
 public:
  /// Throws MachineError if the workspace cannot be made. Without git, no version can be checked out.
  explicit Workspace(const Git* git) : git_(git), folder_("history") {}

  /// Always the same two folders, so that a compiler's cache knows files again: the version's files, and an empty
  /// folder to build it in.
  [[nodiscard]] std::string source() const { return folder_.file("source"); }
  [[nodiscard]] std::string build() const { return folder_.file("build"); }
  /// For TMPDIR: what a compiler that is killed leaves there is gone with the version.
  [[nodiscard]] std::string temporary() const { return folder_.file("temporary"); }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }

  /// Makes these folders for a version, in place of those of the one before. Throws MachineError if git cannot.
  void take(const Commit& commit);
  /// Removes them.
  void drop();

 private:
  const Git* git_;
  TemporaryFolder folder_;
};

}  // namespace zerotax::bisect
