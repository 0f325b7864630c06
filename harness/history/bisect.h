#pragma once

#include <optional>
#include <string>
#include <vector>

#include "history/question.h"

namespace zerotax::history {

/// A version that git asked about.
struct BisectStep {
  Commit commit;
  Answer answer;
};

/// Where the answer changes from good to bad.
struct Bisection {
  Commit good;
  Commit bad;
  Answer good_answer;
  Answer bad_answer;
  std::size_t between = 0;          ///< commits between them, the bad one included
  std::vector<BisectStep> steps;    ///< in the order that git asked
  std::optional<Commit> first_bad;  ///< if it was found
  std::vector<Commit> candidates;   ///< if it was not: one of these, of which none between them could be measured
  bool complete = true;             ///< no signal came
};

/// What a bisection needs.
struct BisectSetup {
  const Git& git;
  const Repository& repository;
  const Builder& builder;
  Workspace& workspace;
  const Question& question;
  bool first_parent = false;
};

/// Checks that good is good and bad is bad, and bisects between them by `git bisect run` in the workspace's repository.
/// What an earlier run has built is not built again. Throws UsageError, with what was measured of both, if the answers
/// are not those.
Bisection bisect(const BisectSetup& setup, const Commit& good, const Commit& bad);

/// What `git bisect run` starts for each version: answers the question of a job that `bisect` wrote, and returns the
/// status that git expects (0 good, 1 bad, 125 skip, more than 127: end).
int bisect_step(const std::string& job_file);

}  // namespace zerotax::history
