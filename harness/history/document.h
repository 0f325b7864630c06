#pragma once

#include <string>
#include <vector>

#include "history/run.h"

namespace zerotax::history {

/// What a history was asked for.
struct HistoryRequest {
  std::string repository;  ///< its folder
  std::string selection;   ///< "tags v2.*", "range A..B"
  Recipe recipe;
  Grid grid;
  std::string started;
};

/// The keys that every document of this room begins with.
Json document_head(const char* schema, bool complete, const std::string& started, const std::string& repository,
                   const Recipe& recipe);

/// The object of "zerotax.history/1" (results/schema/history.schema.json).
Json history_json(const HistoryRequest& request, const History& history);

/// For people, of that object: at most 80 columns.
std::string history_text(const Json& history);

}  // namespace zerotax::history
