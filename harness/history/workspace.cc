#include "history/workspace.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace zerotax::history {

namespace fs = std::filesystem;

Workspace::Workspace(const Git& git, const std::optional<Repository>& repository)
    : git_(git), folder_("history"), private_(folder_.file("repository")) {
  if (!repository) return;
  fs::create_directory(private_);
  git_.must(private_,
            {"init", "--quiet", "--bare", "--template=", "--object-format=" + repository->object_format(), "."});
  // gitrepository-layout(5): what is not here is looked for there.
  fs::create_directories(private_ + "/objects/info");
  std::ofstream(private_ + "/objects/info/alternates", std::ios::binary) << repository->objects() << '\n';
  if (!repository->shallow_file().empty()) fs::copy_file(repository->shallow_file(), private_ + "/shallow");
}

void Workspace::take(const Commit& commit) {
  drop();
  git_.must(private_, {"worktree", "add", "--quiet", "--detach", "--force", source(), commit.id});
  fs::create_directory(build());
  fs::create_directory(temporary());
}

void Workspace::drop() {
  std::error_code ignored;
  fs::remove_all(build(), ignored);
  fs::remove_all(temporary(), ignored);
  if (!fs::exists(source(), ignored)) return;
  fs::remove_all(source(), ignored);
  git_.must(private_, {"worktree", "prune"});
}

}  // namespace zerotax::history
