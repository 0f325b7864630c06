#include "bisect/bisect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/size.h"
#include "run/experiment.h"
#include "run/interrupt.h"

namespace zerotax::bisect {
namespace {

/// Returns the commits named in lines of a bisection's log, such as "# first bad commit: [0123…] subject".
std::vector<std::string> commits_in_log(const std::string& log, const std::string& mark) {
  std::vector<std::string> ids;
  for (const std::string& line : lines_of(log)) {
    if (!line.starts_with(mark)) continue;
    const std::size_t begin = mark.size();
    ids.push_back(line.substr(begin, line.find(']', begin) - begin));
  }
  return ids;
}

/// Removes the state of an earlier bisection.
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

/// Returns git's word for a version: "bad" if the version has the change, "good" if not.
const char* word_for(const Answer& answer, bool is_fix) {
  if (answer.kind == Answer::Kind::kUnknown) return "skip";
  return (answer.kind == Answer::Kind::kBad) != is_fix ? "bad" : "good";
}

[[noreturn]] void refuse_ends(const Question& question, const Bisection& found) {
  const auto says = [](const Commit& commit, const Answer& answer) {
    return fmt::format("{}: {}", commit.name(), answer.value);
  };
  const std::string both =
      fmt::format("{}; {}", says(found.good, found.good_answer), says(found.bad, found.bad_answer));
  for (const auto& [option, commit, answer] :
       {std::tuple{"--good", &found.good, &found.good_answer}, {"--bad", &found.bad, &found.bad_answer}}) {
    if (answer->kind == Answer::Kind::kUnknown) {
      throw UsageError(fmt::format("{} {} cannot be measured: {}", option, commit->name(), answer->value),
                       "give a version that can be built and works");
    }
  }
  const char* const older = "give an older version, or another --expect";
  const char* const later = "give a later version, or another --expect";
  if (found.good_answer.kind == Answer::Kind::kBad) {
    throw UsageError(fmt::format("--good {} is not as expected ('{}'): {}", found.good.name(), text_of(question), both),
                     found.is_fix ? later : older);
  }
  throw UsageError(fmt::format("--bad {} is as expected ('{}'): {}", found.bad.name(), text_of(question), both),
                   found.is_fix ? older : later);
}

/// The bisection that a command makes.
class Bisecting {
 public:
  Bisecting(const BisectSetup& setup, Bisection& found)
      : setup_(setup), found_(found), versions_(setup.builder, setup.workspace), experiment_("bisecting") {
    experiment_.expect(2, 2);
  }

  void run() {
    found_.between = setup_.repository.line(found_.older(), found_.newer()).size();
    found_.good_answer = asked(found_.good);
    found_.bad_answer = asked(found_.bad);
    if (found_.good_answer.kind != Answer::Kind::kGood || found_.bad_answer.kind != Answer::Kind::kBad) {
      refuse_ends(setup_.question, found_);
    }
    LineFound line = search(found_.older(), found_.newer());
    found_.first = std::move(line.first);
    found_.candidates = std::move(line.candidates);
    if (found_.first) explain(*found_.first, found_.older());
  }

 private:
  Answer asked(const Commit& commit) {
    Answer answer;
    Item item;
    item.label = commit.name();
    item.measure = [&](const Say& say) {
      answer = ask(versions_, commit, setup_.question,
                   [&](const char* what) { say(fmt::format("{} {}", what, commit.name())); });
    };
    if (!experiment_.run({item})) throw Stop{};
    return answer;
  }

  /// Returns the answer for a version, whether or not git has asked for it.
  Answer answer_of(const Commit& commit) {
    if (const Answer* known = found_.answer_of(commit.id)) return *known;
    found_.steps.push_back({commit, asked(commit)});
    return found_.steps.back().answer;
  }

  std::vector<Commit> commits(const std::vector<std::string>& ids) {
    std::vector<Commit> found;
    found.reserve(ids.size());
    for (const std::string& id : ids) found.push_back(setup_.repository.commit(id, "git bisect"));
    return found;
  }

  LineFound search(Commit from, const Commit& to) {
    std::vector<std::string> ids = setup_.repository.line(from, to);
    const Commit lowest = setup_.repository.commit(ids.back(), "git bisect");
    if (lowest.parents.front() != from.id) {
      // Commits before the merge `lowest` are not descendants of `from`, so `git bisect` begins at this merge.
      const Answer answer = answer_of(lowest);
      if (answer.kind == found_.kind_after()) return {lowest, {}};
      if (answer.kind == Answer::Kind::kUnknown) return {{}, commits(ids)};
      from = lowest;
      ids.pop_back();
    }
    if (ids.size() == 1) return {to, {}};
    const auto steps = static_cast<std::size_t>(std::ceil(std::log2(ids.size())));
    experiment_.expect(steps, static_cast<double>(steps));
    return bisect_line(setup_, from, to, found_.is_fix, [&](const Commit& commit) { return answer_of(commit); });
  }

  /// Searches the lines that a merge joined to the searched line, and any merge within these lines.
  void explain(Commit merge, Commit from) {
    while (merge.parents.size() > 1) {
      MergeFound found{merge, {}, {}};
      for (const std::string& id : merge.parents) {
        const Commit parent = setup_.repository.commit(id, "git bisect");
        found.parents.push_back({parent, answer_of(parent)});
      }
      const auto next = looked_into(found, from);
      found_.merges.push_back(std::move(found));
      if (!next) return;
      merge = *next;
    }
    if (!found_.merges.empty()) found_.origin = {merge, answer_of(merge)};
  }

  /// Adds a sentence about a merge. If a merged line already had the change, returns the first commit with the change
  /// on that line, and sets `from`.
  std::optional<Commit> looked_into(MergeFound& merge, Commit& from) {
    const BisectStep& first = merge.parents.front();
    const auto others_begin = merge.parents.begin() + 1;
    const auto answers = [&](Answer::Kind kind) {
      return std::find_if(others_begin, merge.parents.end(),
                          [kind](const BisectStep& each) { return each.answer.kind == kind; });
    };
    const auto source = answers(found_.kind_after());
    const char* const as_before = found_.is_fix ? "not as expected" : "as expected";
    if (first.answer.kind != found_.kind_before()) {
      // The first parent of the merge is older than the searched line.
      if (source == merge.parents.end()) {
        merge.sentence =
            fmt::format("It merges the line of {} into a line that was never {}: the first parent {} is the same ({}).",
                        found_.older().name(), as_before, first.commit.name(), first.answer.value);
        return std::nullopt;
      }
    } else if (source == merge.parents.end()) {
      const auto unknown = answers(Answer::Kind::kUnknown);
      merge.sentence =
          unknown == merge.parents.end()
              ? fmt::format("It is a merge and made the change itself: each of its parents is {}.", as_before)
              : fmt::format("It is a merge; its parent {} cannot be measured: {}.", unknown->commit.name(),
                            unknown->answer.value);
      return std::nullopt;
    } else {
      const auto base = setup_.repository.merge_base(first.commit, source->commit);
      if (!base) {
        merge.sentence = fmt::format("It is a merge; its parent {}, whose line has a root of its own, brought it ({}).",
                                     source->commit.name(), source->answer.value);
        return std::nullopt;
      }
      from = *base;
    }
    const std::string brought =
        fmt::format("It is a merge; its parent {} brought it ({})", source->commit.name(), source->answer.value);
    if (setup_.first_parent) {
      merge.sentence = brought + ". Without --first-parent, the line of that parent is searched as well.";
      return std::nullopt;
    }
    const Answer apart = answer_of(from);
    if (apart.kind != found_.kind_before()) {
      merge.sentence = fmt::format("{}. That line is not searched, for where both begin, {} is not {}: {}.", brought,
                                   from.name(), as_before, apart.value);
      return std::nullopt;
    }
    const LineFound line = search(from, source->commit);
    if (!line.first) {
      merge.sentence =
          fmt::format("{}; the commit on that line is unknown, because some commits cannot be measured.", brought);
      return std::nullopt;
    }
    merge.sentence = fmt::format("{}; within that line {} is the first.", brought, line.first->name());
    return line.first;
  }

  const BisectSetup& setup_;
  Bisection& found_;
  Versions versions_;
  Experiment experiment_;
};

/// The size at which rules are evaluated if the question names no size. Allocators differ at this size.
constexpr std::uint64_t kPlainSize = 20 * kMiB;

std::vector<Finding> findings_in(const Allocator& allocator, std::uint64_t size, double timeout_s) {
  const std::vector<Point> points = audited_for_rules(allocator, "calloc_loop", size, timeout_s);
  std::vector<Finding> all;
  for (const AllocatorFindings& each : find_findings(points, Json())) {
    all.insert(all.end(), each.findings.begin(), each.findings.end());
  }
  return all;
}

/// Returns the findings of one version that the other version does not have.
std::vector<Finding> beyond(std::vector<Finding> own, const std::vector<Finding>& other) {
  std::erase_if(own, [&](const Finding& finding) {
    return std::any_of(other.begin(), other.end(), [&](const auto& each) { return each.name == finding.name; });
  });
  return own;
}

BisectOutcome compared(const BisectSetup& setup, const Bisection& found, const Watch& watch) {
  const Commit& after = *found.first;
  const Versions versions(setup.builder, setup.workspace);
  const auto answer_of = [&](const Commit& commit) {
    const Answer* known = found.answer_of(commit.id);
    return known != nullptr ? *known : ask(versions, commit, setup.question, watch);
  };
  BisectOutcome outcome;
  outcome.before = setup.repository.commit(after.parents.front(), "git bisect");
  outcome.before_answer = answer_of(outcome.before);
  outcome.after_answer = answer_of(after);
  outcome.diffstat = setup.repository.diffstat(found.author_of_change());
  Version old_version = versions.measured(outcome.before, setup.question.grid, watch);
  Version new_version = versions.measured(after, setup.question.grid, watch);
  if (old_version.measurement && new_version.measurement) {
    outcome.difference = difference_between(versions, old_version, new_version, setup.question.grid, watch);
  }
  if (setup.question.grid.command) return outcome;
  const auto new_library = versions.allocator_of(new_version, watch);
  const auto old_library = versions.allocator_of(old_version, watch);
  if (!new_library || !old_library) return outcome;
  outcome.version = new_library->version;
  outcome.library = new_version.build->library;
  const std::uint64_t size = setup.question.place.size_bytes != 0 ? setup.question.place.size_bytes : kPlainSize;
  const double timeout_s = setup.question.grid.timeout_s;
  std::vector<Finding> before = findings_in(*old_library, size, timeout_s);
  std::vector<Finding> after_it = findings_in(*new_library, size, timeout_s);
  outcome.findings = found.is_fix ? beyond(std::move(before), after_it) : beyond(std::move(after_it), before);
  return outcome;
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
                         "check with `git fsck` whether the repository is complete");
    }
    const std::string next = git.output_of({"rev-parse", "--verify", "BISECT_HEAD"});
    const Answer answer = ask(setup.repository.commit(next, "git bisect"));
    said = git.run({"bisect", word_for(answer, is_fix)});
  }
}

const Answer* Bisection::answer_of(const std::string& id) const {
  if (id == good.id) return &good_answer;
  if (id == bad.id) return &bad_answer;
  const auto step =
      std::find_if(steps.begin(), steps.end(), [&](const BisectStep& each) { return each.commit.id == id; });
  return step == steps.end() ? nullptr : &step->answer;
}

Bisection bisect(const BisectSetup& setup, const Commit& good, const Commit& bad) {
  Bisection found;
  found.good = good;
  found.bad = bad;
  if (good.id == bad.id) {
    throw UsageError(fmt::format("--good {} and --bad {} are the same commit", good.name(), bad.name()),
                     "give two different versions");
  }
  found.is_fix = setup.repository.is_ancestor(bad.id, good.id);
  if (!found.is_fix && !setup.repository.is_ancestor(good.id, bad.id)) {
    throw UsageError(
        fmt::format("neither of --good {} and --bad {} is an ancestor of the other", good.name(), bad.name()),
        "give two versions of one line; `git merge-base` names the commit at which they diverge");
  }
  try {
    Bisecting(setup, found).run();
  } catch (const Stop&) {
    found.complete = false;
  }
  return found;
}

BisectOutcome outcome_of(const BisectSetup& setup, const Bisection& found) {
  BisectOutcome outcome;
  Item item;
  item.measure = [&](const Say& say) { outcome = compared(setup, found, [&say](const char* what) { say(what); }); };
  if (!Experiment("comparing with the version before").run({item})) throw Stop{};
  return outcome;
}

}  // namespace zerotax::bisect
