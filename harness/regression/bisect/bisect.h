#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bisect/question.h"
#include "judge/document.h"

namespace zerotax::bisect {

/// A version and its answer.
struct BisectStep {
  Commit commit;
  Answer answer;
};

/// A merge at which the answer changes, and the reason.
struct MergeFound {
  Commit commit;
  std::vector<BisectStep> parents;  ///< parents of the merge and their answers; the first parent belongs to the
                                    ///< searched line
  std::string sentence;             ///< the reason for the change at the merge, such as "its parent 0123456789 brought
                                    ///< it: …"
};

/// The change of the answer on the line of first parents.
struct Bisection {
  Commit good;
  Commit bad;
  Answer good_answer;
  Answer bad_answer;
  bool is_fix = false;               ///< whether the good version is the newer one, so that the bisection finds the
                                     ///< first good version
  std::size_t between = 0;           ///< number of first parents between the two versions, including the newer version
  std::vector<BisectStep> steps;     ///< tested versions in the order of the tests, including versions for which git
                                     ///< did not ask
  std::optional<Commit> first;       ///< the first version with the answer of the newer version; absent if not found
  std::vector<Commit> candidates;    ///< if `first` is absent: the commits one of which is the first, because no
                                     ///< version between them could be measured
  std::vector<MergeFound> merges;    ///< if `first` is a merge: `first`, then the merges within the merged line
  std::optional<BisectStep> origin;  ///< the commit within the merged line that made the change, if found
  bool complete = true;              ///< false if a signal ended the bisection early

  [[nodiscard]] const Commit& older() const { return is_fix ? bad : good; }
  [[nodiscard]] const Commit& newer() const { return is_fix ? good : bad; }
  /// Returns the answer of versions before the change.
  [[nodiscard]] Answer::Kind kind_before() const { return is_fix ? Answer::Kind::kBad : Answer::Kind::kGood; }
  [[nodiscard]] Answer::Kind kind_after() const { return is_fix ? Answer::Kind::kGood : Answer::Kind::kBad; }
  /// Returns the commit that made the change. If a merge joined the change to the searched line, this is the origin
  /// within the merged line. Requires `first`.
  [[nodiscard]] const Commit& author_of_change() const { return origin ? origin->commit : *first; }
  /// Returns the answer for a version, or nullptr if the version was not tested.
  [[nodiscard]] const Answer* answer_of(const std::string& id) const;
};

/// The inputs of a bisection.
struct BisectSetup {
  const Git& git;
  const Repository& repository;
  const Builder& builder;
  Workspace& workspace;
  const Question& question;
  bool first_parent = false;  ///< whether to skip merged lines
};

/// Checks that the good version is good and the bad version is bad. Bisects the first parents between them with `git
/// bisect` in the private repository. If the result is a merge, measures its other parents, and searches the merged
/// line that already had the change. Reuses versions that an earlier run built. If a version is not as claimed, throws
/// UsageError with both measurements.
Bisection bisect(const BisectSetup& setup, const Commit& good, const Commit& bad);

/// The effect of the commit that a bisection found.
struct BisectOutcome {
  Commit before;  ///< first parent of the commit
  Answer before_answer;
  Answer after_answer;
  std::optional<Difference> difference;  ///< difference of all metrics of the grid, from before to after; absent if one
                                         ///< version was not measured
  std::vector<Finding> findings;  ///< findings of the commit that its parent does not have; for a fix, findings of the
                                  ///< parent that the commit does not have
  std::string version;            ///< version, as reported by the commit's library
  std::string library;            ///< path of the commit's library in the cache
  std::string diffstat;           ///< changed files of the commit that made the change
};

/// Measures the found commit and its parent. Requires `found.first`. Throws Stop.
BisectOutcome outcome_of(const BisectSetup& setup, const Bisection& found);

/// The result of `git bisect` on a line of first parents.
struct LineFound {
  std::optional<Commit> first;     ///< the first commit with the answer of the line's end, if it can be decided
  std::vector<Commit> candidates;  ///< if `first` is absent: the commits one of which is the first
};

/// Bisects the first parents of `to` that are not among those of `from`, with the steps of `git bisect`. `from` has the
/// answer before the change, and `to` the answer after it. With `is_fix`, "after" is good. `ask` returns the answer for
/// a version. Throws any error that `ask` throws, and MachineError if git fails.
LineFound bisect_line(const BisectSetup& setup, const Commit& from, const Commit& to, bool is_fix,
                      const std::function<Answer(const Commit& commit)>& ask);

}  // namespace zerotax::bisect
