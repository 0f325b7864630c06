// Damages the output of git, and the files of a repository that history and bisect read without git. Each damaged input
// must either be refused by a zerotax::Error, or lead to commits whose texts can be shown. Started as `git`, this
// program runs the real git and damages its output.
// Usage: git_random [--seconds N] [--seed N]
#include <sys/wait.h>

#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/error.h"
#include "bisect/bisect.h"
#include "bisect/git.h"
#include "bisect/repository.h"
#include "files/folders.h"
#include "random_input.h"

namespace {

using namespace zerotax;
using namespace zerotax::bisect;
using fuzz::Random;
namespace fs = std::filesystem;

constexpr const char* kSeed = "ZEROTAX_FUZZ_SEED";
constexpr const char* kPath = "ZEROTAX_FUZZ_PATH";

/// Makes a line of commits with a merge, and tags that name a commit, a tag and a file. Some names are unusual, but
/// valid in git.
constexpr const char* kMakeRepository = R"(
set -eu
cd "$1"
git init -q -b main repository
cd repository
commit() { git -c user.name='A B' -c user.email=a@localhost -c commit.gpgsign=false commit -q --allow-empty "$@"; }
for i in 1 2 3 4; do echo $i >file; git add file; commit -m "change $i"; git tag v$i; done
git checkout -q -b side v2
echo other >other; git add other; commit -m 'a side'
git checkout -q main
git -c user.name=A -c user.email=a@localhost merge -q --no-ff -m 'a merge' side
git -c user.name=A -c user.email=a@localhost tag -a -m annotated v5
git tag blob HEAD:file
git tag 'v6-rc1/ä' HEAD
git pack-refs --all
git tag v7
)";

/// Returns a variable of the environment; empty if the variable is not set.
std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Runs the real git and damages its output, in the same way for the same seed and words.
int act_as_git(int count, char** words) {
  std::string all;
  bool prints = false;
  for (int i = 1; i < count; ++i) {
    all += std::string(words[i]) + '\0';
    for (const char* command : {"show", "rev-parse", "tag", "rev-list", "merge-base", "for-each-ref"}) {
      prints |= std::string_view(words[i]) == command;
    }
  }
  ::setenv("PATH", variable(kPath).c_str(), 1);
  Random random(std::strtoull(variable(kSeed).c_str(), nullptr, 10) ^ std::hash<std::string>()(all));
  if (!prints || !fuzz::one_in(random, 5)) {
    ::execvp("git", words);
    return 127;
  }
  int ends[2];
  if (::pipe(ends) != 0) return 126;
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::execvp("git", words);
    ::_exit(127);
  }
  ::close(ends[1]);
  std::string output;
  char part[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], &part[0], sizeof part)) > 0;)
    output.append(&part[0], static_cast<std::size_t>(got));
  int status = 0;
  ::waitpid(child, &status, 0);
  if (fuzz::one_in(random, 8)) status = static_cast<int>(random() % 3) << 8;
  output = fuzz::damaged_text(output, random);
  std::fwrite(output.data(), 1, output.size(), stdout);
  return WEXITSTATUS(status);
}

std::size_t used = 0;
void use(const Commit& commit) {
  used += commit.name().size() + commit.subject.size() + commit.author.size() + commit.date.size();
}

/// If `which` is below 4, makes one query of history or bisect to a repository, otherwise all queries.
void ask(const Git& git, Random& random, std::uint64_t which) {
  const Repository repository(git);
  const bool all = which > 3;
  if (all || which == 0) {
    for (const Commit& commit : repository.tags({"v5", "v6*"})) use(commit);
  }
  if (all || which == 1) {
    for (const Commit& commit :
         repository.range(fuzz::one_in(random, 2) ? "v4..v5" : "v4..", fuzz::one_in(random, 2))) {
      use(commit);
    }
  }
  if (!all && which < 2) return;
  const Commit from = repository.commit("v3", "--good");
  const Commit to = repository.commit("v5", "--bad");
  if (all || which == 2) {
    used += repository.line(from, to).size() + repository.diffstat(to).size();
    if (const auto base = repository.merge_base(from, to)) use(*base);
  }
  if (!all && which != 3) return;
  const Recipe recipe;
  const Cache cache;
  const Builder builder{cache, recipe};
  Workspace workspace(&git);
  const Question question;
  const BisectSetup setup{git, repository, builder, workspace, question};
  const LineFound found = bisect_line(setup, from, to, fuzz::one_in(random, 2), [&](const Commit& commit) {
    use(commit);
    return bisect::Answer{static_cast<bisect::Answer::Kind>(random() % 3), "7"};
  });
  for (const Commit& commit : found.candidates) use(commit);
}

/// Damages or adds a file that read_repository reads.
void damage(const fs::path& git, Random& random) {
  static constexpr const char* kFiles[] = {
      "HEAD",         "packed-refs", "shallow",   "commondir", "objects/info/alternates",
      "refs/tags/v7", "logs/HEAD",   "ORIG_HEAD", "config"};
  static constexpr const char* kTexts[] = {"ref: refs/heads/main\n",
                                           "..\n",
                                           "/\n",
                                           "/dev/zero\n",
                                           "\"/x\"\n",
                                           "ref: ../../x\n",
                                           ".\n",
                                           "0000000000000000000000000000000000000000\n"};
  const fs::path file = git / kFiles[random() % std::size(kFiles)];
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  const std::string old =
      text.str().empty() || fuzz::one_in(random, 4) ? kTexts[random() % std::size(kTexts)] : text.str();
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << fuzz::damaged_text(old, random);
}

/// Whether `act` ended normally. A zerotax::Error gives false; any other exception ends the test.
template <typename Act>
bool succeeds(const Act& act) {
  try {
    act();
    return true;
  } catch (const Error&) {
    return false;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    std::abort();
  }
}

}  // namespace

int main(int count, char** words) {
  if (fs::path(words[0]).filename() == "git") return act_as_git(count, words);
  const fuzz::Options options(count, words);
  const TemporaryFolder place("git-random");
  const std::string make =
      std::string("sh -c '") + "exec sh -s \"$0\"' " + place.path() + " <<'END'\n" + kMakeRepository + "END\n";
  if (std::system(make.c_str()) != 0) return std::fprintf(stderr, "git is not installed\n"), 77;
  ::setenv(kPath, variable("PATH").c_str(), 1);
  ::setenv("XDG_CACHE_HOME", place.file("cache").c_str(), 1);
  fuzz::Random first(1);
  const Git git(place.file("repository"));
  ask(git, first, 4);
  fs::create_directory(place.file("bin"));
  fs::create_symlink(fs::read_symlink("/proc/self/exe"), place.file("bin") + "/git");
  const std::string damaged_path = place.file("bin") + ":" + variable("PATH");
  std::uint64_t answered = 0;
  std::uint64_t read = 0;
  const std::uint64_t tried = fuzz::try_seeds(options, [&](fuzz::Random& random) {
    ::setenv(kSeed, std::to_string(fuzz::current_seed).c_str(), 1);
    ::setenv("PATH", damaged_path.c_str(), 1);
    answered += succeeds([&] { ask(git, random, fuzz::one_in(random, 8) ? 3 : random() % 3); }) ? 1 : 0;
    ::setenv("PATH", variable(kPath).c_str(), 1);
    for (int i = 0; i < 8; ++i) {
      const std::string copy = place.file("copy");
      fs::remove_all(copy);
      fs::copy(place.file("repository"), copy, fs::copy_options::recursive);
      damage(fs::path(copy) / ".git", random);
      read += succeeds([&] { used += read_repository(copy).files.size(); }) ? 1 : 0;
    }
  });
  std::printf("%llu times git's output was damaged: %llu answered; %llu damaged repositories were read\n",
              static_cast<unsigned long long>(tried), static_cast<unsigned long long>(answered),
              static_cast<unsigned long long>(read));
  return 0;
}
