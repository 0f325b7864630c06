#pragma once

#include <string>
#include <vector>

#include "base/answer.h"
#include "bisect/bisect.h"
#include "bisect/history.h"
#include "bisect/question.h"
#include "os/environment.h"

namespace zerotax::bisect {

/// The inputs of a command of this folder.
struct Request {
  std::string repository;  ///< folder of the repository
  Recipe recipe;
  std::string started;
  Environment environment;
};

struct HistoryRequest : Request {
  std::string selection;  ///< such as "tags v2.*" or "range A..B"
  Grid grid;
};

struct BisectRequest : Request {
  Question question;
};

/// Returns the changes of a version, or the reason why they are unknown.
std::string sentence_of(const Row& row);

/// Returns a title such as "mimalloc: 3 of 12 versions changed what calloc and free do".
std::string title_of(const HistoryRequest& request, const History& history);

/// Returns notes without which the table and the figure would be misread.
std::vector<std::string> notes_of(const HistoryRequest& request, const History& history);

/// Returns a sentence with the found commit, and the answers before and after the commit. `outcome` is nullptr if no
/// commit was found.
std::string sentence_of(const Bisection& found, const BisectOutcome* outcome);

/// Returns the answer on one screen: the versions that changed something, the most severe first. `bisect_command`
/// contains the words of the bisection to which --good and --bad are added; empty if no bisection is possible.
zerotax::Answer history_answer(const HistoryRequest& request, const History& history,
                               const std::vector<std::string>& bisect_command);
/// Returns the answer on one screen: the commit, and the measurements before and after the commit. `outcome` is nullptr
/// if no commit was found.
zerotax::Answer bisect_answer(const BisectRequest& request, const Bisection& found, const BisectOutcome* outcome);

// Returns the table as text, at most 80 columns wide.

std::string history_text(const HistoryRequest& request, const History& history);

/// `outcome` is nullptr if no commit was found.
std::string bisect_text(const BisectRequest& request, const Bisection& found, const BisectOutcome* outcome);

/// Returns the draft of a bug report in Markdown. Requires that a commit was found.
std::string report_draft(const BisectRequest& request, const Bisection& found, const BisectOutcome& outcome);

}  // namespace zerotax::bisect
