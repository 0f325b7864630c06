#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "core/results.h"
#include "core/typed_point.h"

namespace zerotax::study {

/// Every verdict on a run, in one document: "zerotax.summary/1" (results/schema/summary.schema.json). The terminal, the
/// figures and the page show it and judge nothing. `run`: the object of run.json, for when the run began and how it
/// ended; or null.
Json summary_json(const std::vector<Point>& points, const Json& run);

/// The same for a reader who is new to the subject: Markdown that also reads well in a terminal of 80 columns.
/// Which allocators zero redundantly, at which sizes, and at what cost.
std::string summary_text(const Json& summary);

/// That a run was measured under load, and what that means; "" if it was not, or for null: nobody looked.
std::string load_sentence(const Json& load);
/// The same as a paragraph of the terminal.
std::string load_text(const Json& load);

/// Writes summary.json into a results folder, beside run.json. Returns it.
Json write_summary(const ResultsFolder& folder, const std::vector<Point>& points);

}  // namespace zerotax::study
