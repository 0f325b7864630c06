#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bisect/git.h"
#include "files/folders.h"

namespace zerotax::bisect {

/// One version of a project.
struct Commit {
  std::string id;       ///< full name of the commit
  std::string tag;      ///< tag with which the version was requested; empty if requested by commit
  std::string date;     ///< date of the author, such as "2026-11-20T05:10:00+01:00"
  std::string author;   ///< "Name <address>"
  std::string subject;  ///< first line of the commit message
  std::vector<std::string> parents;
  std::string package{};  ///< Debian package in the form NAME=WORD of --allocator; empty for a commit

  /// Returns the tag, or the first ten digits of the commit.
  [[nodiscard]] std::string name() const { return tag.empty() ? id.substr(0, 10) : tag; }
};

/// The history in a user's repository, which may be a work tree or bare, whole or shallow.
class Repository {
 public:
  explicit Repository(const Git& git) : git_(git) {}

  /// The folder, as given by the user.
  [[nodiscard]] const std::string& folder() const { return git_.folder(); }

  /// Returns the commit with this name. Throws UsageError if there is none; `option` is for the message.
  [[nodiscard]] Commit commit(const std::string& name, const std::string& option) const;
  /// Returns the tags that match any of these patterns, oldest version first, each commit once. Throws UsageError if no
  /// tag matches.
  [[nodiscard]] std::vector<Commit> tags(const std::vector<std::string>& patterns) const;
  /// Returns A and then the commits of A..B, oldest first: only first parents, or `all` commits. Throws UsageError for
  /// an invalid or empty range.
  [[nodiscard]] std::vector<Commit> range(const std::string& words, bool all) const;
  /// Returns whether the commit `one` is an ancestor of the commit `other`. Both are full names.
  [[nodiscard]] bool is_ancestor(const std::string& one, const std::string& other) const;
  /// Returns the newest common ancestor of two commits, or nothing if there is none.
  [[nodiscard]] std::optional<Commit> merge_base(const Commit& one, const Commit& other) const;
  /// Returns the first parents of `to`, including `to`, that have `from` as an ancestor, newest first. The last commit
  /// has `from` as its first parent, or is the merge that joined the line of `from`.
  [[nodiscard]] std::vector<std::string> line(const Commit& from, const Commit& to) const;
  /// Returns the changed files of a commit in the form of `git show --stat`, in 78 columns.
  [[nodiscard]] std::string diffstat(const Commit& commit) const;

 private:
  [[nodiscard]] Commit described(const std::string& id) const;

  const Git& git_;
};

/// The files of one version at a time: a git worktree of our private repository (git.h), which is removed at the end.
class Workspace {
 public:
  /// Makes the folder. Throws MachineError if that fails. Without git, no version can be checked out.
  explicit Workspace(const Git* git) : git_(git), folder_("history") {}

  /// Two folders whose paths never change, so that a compiler's cache recognizes files: one with the version's files,
  /// and an empty folder for the build.
  [[nodiscard]] std::string source() const { return folder_.file("source"); }
  [[nodiscard]] std::string build() const { return folder_.file("build"); }
  /// Folder for TMPDIR. Files that a killed compiler leaves there are removed with the version.
  [[nodiscard]] std::string temporary() const { return folder_.file("temporary"); }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }

  /// Makes these folders for a version, and removes those of the previous version. Throws MachineError if git fails.
  void take(const Commit& commit);
  /// Removes the folders.
  void drop();

 private:
  const Git* git_;
  TemporaryFolder folder_;
};

}  // namespace zerotax::bisect
