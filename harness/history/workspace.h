#pragma once

#include <optional>
#include <string>

#include "files/temporary_folder.h"
#include "history/repository.h"

namespace zerotax::history {

/// A private repository that borrows the objects of a user's, and a git worktree of it, one version at a time. The
/// user's repository is only read: its references, worktrees and files stay as they are. All of it is gone at the end.
class Workspace {
 public:
  /// Throws MachineError if it cannot be made. Without a repository nothing can be taken from it.
  Workspace(const Git& git, const std::optional<Repository>& repository);

  /// The private repository: bare, without references.
  [[nodiscard]] const std::string& repository() const { return private_; }
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
  const Git& git_;
  TemporaryFolder folder_;
  std::string private_;
};

}  // namespace zerotax::history
