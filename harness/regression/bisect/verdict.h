#pragma once

#include <string>
#include <vector>

#include "bisect/outcome.h"
#include "bisect/request.h"
#include "bisect/run.h"

namespace zerotax::bisect {

/// What a version changed, or why that is not known.
std::string sentence_of(const Row& row);

/// "mimalloc: 3 of 12 versions changed what calloc and free do".
std::string title_of(const HistoryRequest& request, const History& history);

/// What one has to know to read the table and the figure.
std::vector<std::string> notes_of(const HistoryRequest& request, const History& history);

/// Which commit did it, and how versions before it and after it answer. `outcome`: nullptr if none was found.
std::string sentence_of(const Bisection& found, const BisectOutcome* outcome);

}  // namespace zerotax::bisect
