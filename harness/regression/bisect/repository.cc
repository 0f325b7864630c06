#include "bisect/repository.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/printable.h"

namespace zerotax::bisect {
namespace {

/// Separates the parts of a line that git prints for a commit. No part can contain this character.
constexpr char kBetween = '\0';

}  // namespace

Commit Repository::described(const std::string& id) const {
  const std::vector<std::string> parts =
      lines_of(git_.output_of({"show", "-s", "--format=%P%x00%s%x00%H%x00%aI%x00%an <%ae>", id}), kBetween);
  if (parts.size() != 5)
    throw MachineError("git does not describe the commit " + id, "check whether `git show` describes the commit");
  return {parts[2], "", parts[3], printable(parts[4]), printable(parts[1]), lines_of(parts[0], ' ')};
}

Commit Repository::commit(const std::string& name, const std::string& option) const {
  // A name that begins like an option would be read as an option.
  const GitAnswer answer = git_.run({"rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"});
  if (name.empty() || !answer.succeeded()) {
    throw UsageError(fmt::format("{} '{}': the repository has no such commit", option, name),
                     "give a tag, branch or commit (`git tag` lists tags)");
  }
  Commit found = described(answer.output);
  if (git_.run({"show-ref", "--verify", "--quiet", "refs/tags/" + name}).succeeded()) found.tag = name;
  return found;
}

std::vector<Commit> Repository::tags(const std::vector<std::string>& patterns) const {
  // Sorts pre-releases before their release.
  std::vector<std::string> words;
  for (const char* suffix : {"-alpha", "-beta", "-pre", "-rc", "_rc"}) {
    words.insert(words.end(), {"-c", std::string("versionsort.suffix=") + suffix});
  }
  words.insert(words.end(), {"tag", "--list", "--sort=version:refname", "--format=%(refname:strip=2)", "--"});
  words.insert(words.end(), patterns.begin(), patterns.end());
  const GitAnswer answer = git_.run(words);
  std::vector<Commit> found;
  std::set<std::string> seen;
  for (const std::string& tag : lines_of(answer.output)) {
    const GitAnswer id = git_.run({"rev-parse", "--verify", "--quiet", "refs/tags/" + tag + "^{commit}"});
    // Skips a tag of a file, or a second tag of the same commit.
    if (!id.succeeded() || !seen.insert(id.output).second) continue;
    found.push_back(described(id.output));
    found.back().tag = tag;
  }
  if (found.empty()) {
    throw UsageError(fmt::format("--tags '{}': the repository has no such tag", patterns.front()),
                     "`git tag` lists the tags; a shallow clone may have no tags (git fetch --tags)");
  }
  return found;
}

std::vector<Commit> Repository::range(const std::string& words, bool all) const {
  const std::size_t dots = words.find("..");
  if (dots == std::string::npos || dots == 0 || words.find("...") != std::string::npos) {
    throw UsageError(fmt::format("invalid --range '{}'", words), "give A..B, as in --range v2.1.0..HEAD");
  }
  const Commit from = commit(words.substr(0, dots), "--range");
  const Commit to = commit(dots + 2 == words.size() ? "HEAD" : words.substr(dots + 2), "--range");
  std::vector<std::string> arguments{"rev-list", "--reverse", "--topo-order"};
  if (!all) arguments.emplace_back("--first-parent");
  arguments.insert(arguments.end(), {to.id, "^" + from.id});
  std::vector<Commit> found{from};
  for (const std::string& id : lines_of(git_.output_of(arguments))) found.push_back(described(id));
  if (found.size() == 1) {
    throw UsageError(fmt::format("--range '{}' is empty: the first version already contains the second", words),
                     "give the older version first, as in --range v2.1.0..HEAD");
  }
  return found;
}

bool Repository::is_ancestor(const std::string& one, const std::string& other) const {
  return git_.run({"merge-base", "--is-ancestor", one, other}).succeeded();
}

std::optional<Commit> Repository::merge_base(const Commit& one, const Commit& other) const {
  const GitAnswer answer = git_.run({"merge-base", one.id, other.id});
  if (!answer.succeeded()) return std::nullopt;
  return described(answer.output);
}

std::vector<std::string> Repository::line(const Commit& from, const Commit& to) const {
  std::vector<std::string> ids = lines_of(git_.output_of({"rev-list", "--first-parent", to.id, "^" + from.id}));
  // If an unrelated line was merged, commits before this merge do not have `from` as an ancestor.
  const auto has_it = [&](const std::string& id) { return is_ancestor(from.id, id); };
  ids.erase(std::partition_point(ids.begin(), ids.end(), has_it), ids.end());
  return ids;
}

std::string Repository::diffstat(const Commit& commit) const {
  return printable_lines(git_.output_of({"show", "--first-parent", "-m", "--stat=78,60,40", "--format=", commit.id}));
}

namespace fs = std::filesystem;

void Workspace::take(const Commit& commit) {
  drop();
  git_->must({"worktree", "add", "--quiet", "--detach", "--force", source(), commit.id});
  fs::create_directory(build());
  fs::create_directory(temporary());
}

void Workspace::drop() {
  std::error_code ignored;
  fs::remove_all(build(), ignored);
  fs::remove_all(temporary(), ignored);
  if (!fs::exists(source(), ignored)) return;
  fs::remove_all(source(), ignored);
  git_->must({"worktree", "prune"});
}

}  // namespace zerotax::bisect
