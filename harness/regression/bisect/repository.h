#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bisect/git.h"
#include "files/folders.h"

namespace zerotax::bisect {

/// One version of a project.
struct Commit {
  std::string id;       ///< its full name
  std::string tag;      ///< by which it was asked for; empty: by its commit
  std::string date;     ///< of the author, "2026-11-20T05:10:00+01:00"
  std::string author;   ///< "Name <address>"
  std::string subject;  ///< the first line of its message
  std::vector<std::string> parents;
  std::string package{};  ///< of Debian, as --allocator NAME=WORD takes it; then there is no commit

  /// The tag, or the first ten digits of the commit.
  [[nodiscard]] std::string name() const { return tag.empty() ? id.substr(0, 10) : tag; }
};

/// The history in a user's repository, which may be a work tree or bare, whole or shallow.
class Repository {
 public:
  explicit Repository(const Git& git) : git_(git) {}

  /// The folder, as the user gave it.
  [[nodiscard]] const std::string& folder() const { return git_.folder(); }

  /// Throws UsageError if no commit has this name; `option` is for the message.
  [[nodiscard]] Commit commit(const std::string& name, const std::string& option) const;
  /// The tags that match any of these patterns, oldest version first, each commit once. Throws UsageError if none does.
  [[nodiscard]] std::vector<Commit> tags(const std::vector<std::string>& patterns) const;
  /// A, and the commits of A..B after it, oldest first: of the first parents, or all of them. Throws UsageError for
  /// what is no range, and for one that is empty.
  [[nodiscard]] std::vector<Commit> range(const std::string& words, bool all) const;
  /// Of commits, by their full names.
  [[nodiscard]] bool is_ancestor(const std::string& one, const std::string& other) const;
  /// The newest commit that both have; nothing if they have none.
  [[nodiscard]] std::optional<Commit> merge_base(const Commit& one, const Commit& other) const;
  /// The first parents of `to`, itself included, that have `from` as an ancestor: newest first. The last of them has
  /// `from` as its first parent, or is the merge that brought it.
  [[nodiscard]] std::vector<std::string> line(const Commit& from, const Commit& to) const;
  /// What a commit changed in which file, as `git show --stat` has it in 78 columns.
  [[nodiscard]] std::string diffstat(const Commit& commit) const;

 private:
  [[nodiscard]] Commit described(const std::string& id) const;

  const Git& git_;
};

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
