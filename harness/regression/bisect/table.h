#pragma once

#include <string>

#include "bisect/outcome.h"
#include "bisect/request.h"
#include "bisect/run.h"

namespace zerotax::bisect {

// For people: at most 80 columns.

std::string history_text(const HistoryRequest& request, const History& history);

/// `outcome`: nullptr if no commit was found.
std::string bisect_text(const BisectRequest& request, const Bisection& found, const BisectOutcome* outcome);

/// The draft of a bug report: Markdown. A commit was found.
std::string report_draft(const BisectRequest& request, const Bisection& found, const BisectOutcome& outcome);

}  // namespace zerotax::bisect
