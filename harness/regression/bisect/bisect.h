#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bisect/question.h"
#include "judge/document.h"

namespace zerotax::bisect {

/// A version, and what it answers.
struct BisectStep {
  Commit commit;
  Answer answer;
};

/// A merge at which the answer changes, and why it does.
struct MergeFound {
  Commit commit;
  std::vector<BisectStep> parents;  ///< the first of them is of the line that was searched
  std::string sentence;             ///< "its parent 0123456789 brought it: …"
};

/// Where the answer changes, on the line of first parents.
struct Bisection {
  Commit good;
  Commit bad;
  Answer good_answer;
  Answer bad_answer;
  bool is_fix = false;               ///< the good version is the newer one: the first good one was searched
  std::size_t between = 0;           ///< first parents between them, the newer one included
  std::vector<BisectStep> steps;     ///< in the order that git asked, and what was asked besides
  std::optional<Commit> first;       ///< that answers as the newer one does, if it was found
  std::vector<Commit> candidates;    ///< if it was not: one of these, of which none between them could be measured
  std::vector<MergeFound> merges;    ///< if it is a merge: that one first, then those within the line that it merged
  std::optional<BisectStep> origin;  ///< the commit within that line that did it, if that was found
  bool complete = true;              ///< no signal came

  [[nodiscard]] const Commit& older() const { return is_fix ? bad : good; }
  [[nodiscard]] const Commit& newer() const { return is_fix ? good : bad; }
  /// What versions before the change answer, and those after it.
  [[nodiscard]] Answer::Kind kind_before() const { return is_fix ? Answer::Kind::kBad : Answer::Kind::kGood; }
  [[nodiscard]] Answer::Kind kind_after() const { return is_fix ? Answer::Kind::kGood : Answer::Kind::kBad; }
  /// The commit that did it: the origin, if a merge brought it. Only if `first` was found.
  [[nodiscard]] const Commit& author_of_change() const { return origin ? origin->commit : *first; }
  /// What was answered so far; nullptr if nobody has asked.
  [[nodiscard]] const Answer* answer_of(const std::string& id) const;
};

/// What a bisection needs.
struct BisectSetup {
  const Git& git;
  const Repository& repository;
  const Builder& builder;
  Workspace& workspace;
  const Question& question;
  bool first_parent = false;  ///< do not search the line that a merge brought
};

/// Checks that good is good and bad is bad, and bisects the first parents between them by `git bisect` in the private
/// repository. If the result is a merge, its other parents are measured, and the line that already had the change is
/// searched. Versions that an earlier run built are not built again. Throws UsageError with both measurements if good
/// is not good or bad is not bad.
Bisection bisect(const BisectSetup& setup, const Commit& good, const Commit& bad);

/// What the commit that a bisection found has done.
struct BisectOutcome {
  Commit before;  ///< its first parent
  Answer before_answer;
  Answer after_answer;
  std::optional<Difference>
      difference;                 ///< of all metrics of the grid, from before to after; nothing if one was not measured
  std::vector<Finding> findings;  ///< that it has and its parent has not; of a fix, the reverse
  std::string version;            ///< as the library says
  std::string library;            ///< path of what was built of it, in the cache
  std::string diffstat;           ///< of the commit that did it
};

/// Measures it beside its parent. `found.first` is there. Throws Stop.
BisectOutcome outcome_of(const BisectSetup& setup, const Bisection& found);

/// What `git bisect` found on a line of first parents.
struct LineFound {
  std::optional<Commit> first;     ///< whose answer is that of the end of the line
  std::vector<Commit> candidates;  ///< if that cannot be decided
};

/// Bisects the first parents of `to` that `from` has not, by the steps of `git bisect`. `from` answers as before the
/// change, `to` as after it; `is_fix`: "after" is good. `ask` answers for a version. Throws what `ask` throws, and
/// MachineError for what stops git.
LineFound bisect_line(const BisectSetup& setup, const Commit& from, const Commit& to, bool is_fix,
                      const std::function<Answer(const Commit& commit)>& ask);

}  // namespace zerotax::bisect
