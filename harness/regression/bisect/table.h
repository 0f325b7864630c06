#pragma once

#include <string>
#include <vector>

#include "bisect/bisect.h"
#include "bisect/history.h"
#include "bisect/question.h"
#include "os/environment.h"

namespace zerotax::bisect {

/// What a command of this room was asked for, and where.
struct Request {
  std::string repository;  ///< its folder
  Recipe recipe;
  std::string started;
  Environment environment;
};

struct HistoryRequest : Request {
  std::string selection;  ///< "tags v2.*", "range A..B"
  Grid grid;
};

struct BisectRequest : Request {
  Question question;
};

/// What a version changed, or why that is not known.
std::string sentence_of(const Row& row);

/// "mimalloc: 3 of 12 versions changed what calloc and free do".
std::string title_of(const HistoryRequest& request, const History& history);

/// What one has to know to read the table and the figure.
std::vector<std::string> notes_of(const HistoryRequest& request, const History& history);

/// Which commit did it, and how versions before it and after it answer. `outcome`: nullptr if none was found.
std::string sentence_of(const Bisection& found, const BisectOutcome* outcome);

// For people: at most 80 columns.

std::string history_text(const HistoryRequest& request, const History& history);

/// `outcome`: nullptr if no commit was found.
std::string bisect_text(const BisectRequest& request, const Bisection& found, const BisectOutcome* outcome);

/// The draft of a bug report: Markdown. A commit was found.
std::string report_draft(const BisectRequest& request, const Bisection& found, const BisectOutcome& outcome);

}  // namespace zerotax::bisect
