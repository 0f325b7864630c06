#include "bisect/git_bisect.h"

#include <filesystem>

#include "base/error.h"

namespace zerotax::bisect {
namespace {

/// The commits that lines of a bisection's log name: "# first bad commit: [0123…] subject".
std::vector<std::string> commits_in_log(const std::string& log, const std::string& mark) {
  std::vector<std::string> ids;
  for (const std::string& line : lines_of(log)) {
    if (!line.starts_with(mark)) continue;
    const std::size_t begin = mark.size();
    ids.push_back(line.substr(begin, line.find(']', begin) - begin));
  }
  return ids;
}

/// Removes what an earlier line has left.
void reset_bisection(const Git& git) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(git.repository(), ignored)) {
    if (entry.path().filename().string().starts_with("BISECT_")) std::filesystem::remove(entry.path(), ignored);
  }
  for (const std::string& reference :
       lines_of(git.output_of({"for-each-ref", "--format=%(refname)", "refs/bisect/"}))) {
    git.must({"update-ref", "-d", reference});
  }
}

/// How git names a commit: "bad" has the change, "good" has not.
const char* word_for(const Answer& answer, bool is_fix) {
  if (answer.kind == Answer::Kind::kUnknown) return "skip";
  return (answer.kind == Answer::Kind::kBad) != is_fix ? "bad" : "good";
}

}  // namespace

LineFound bisect_line(const BisectSetup& setup, const Commit& from, const Commit& to, bool is_fix,
                      const std::function<Answer(const Commit& commit)>& ask) {
  const Git& git = setup.git;
  git.must({"update-ref", "--no-deref", "HEAD", to.id});
  reset_bisection(git);
  GitAnswer said = git.run({"bisect", "start", "--no-checkout", "--first-parent", to.id, from.id, "--"});
  for (;;) {
    const std::string log = text_in(git.repository() + "/BISECT_LOG");
    LineFound found;
    for (const std::string& id : commits_in_log(log, "# first bad commit: [")) {
      found.first = setup.repository.commit(id, "git bisect");
    }
    for (const std::string& id : commits_in_log(log, "# possible first bad commit: [")) {
      found.candidates.push_back(setup.repository.commit(id, "git bisect"));
    }
    if (found.first || !found.candidates.empty()) return found;
    if (!said.succeeded()) {
      throw MachineError("git bisect ended without an answer: " + said.complaint(),
                         "see whether `git fsck` finds the repository whole");
    }
    const std::string next = git.output_of({"rev-parse", "--verify", "BISECT_HEAD"});
    const Answer answer = ask(setup.repository.commit(next, "git bisect"));
    said = git.run({"bisect", word_for(answer, is_fix)});
  }
}

}  // namespace zerotax::bisect
