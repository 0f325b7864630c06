#pragma once

#include <optional>
#include <string>
#include <vector>

#include "findings/document.h"
#include "history/bisect.h"

namespace zerotax::history {

/// What the commit that a bisection found has done.
struct BisectOutcome {
  Commit before;  ///< its parent, whose answer is good
  Answer before_answer;
  Answer after_answer;
  std::optional<Difference>
      difference;  ///< of all metrics of the grid, from before to after; nothing if one was not measured
  std::vector<findings::Finding> findings;  ///< that it has and its parent has not
  std::string version;                      ///< as the library says
  std::string library;                      ///< path of what was built of it, in the cache
  std::string diffstat;
};

/// Measures it beside its parent. `found.first_bad` is there. Throws Interrupted.
BisectOutcome outcome_of(const BisectSetup& setup, const Bisection& found);

/// What a bisection was asked for, and what came of it.
struct BisectRequest {
  std::string repository;
  Recipe recipe;
  Question question;
  std::string started;
};

/// The object of "zerotax.bisect/1" (results/schema/bisect.schema.json). `outcome` is nullptr if no commit was found.
Json bisect_json(const BisectRequest& request, const Bisection& found, const BisectOutcome* outcome);

/// For people, of that object: at most 80 columns.
std::string bisect_text(const Json& bisect);

/// The draft of a bug report, of that object: Markdown. Throws std::logic_error if no commit was found.
std::string report_draft(const Json& bisect);

}  // namespace zerotax::history
