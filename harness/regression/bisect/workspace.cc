#include "bisect/workspace.h"

#include <filesystem>

namespace zerotax::bisect {

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
