#pragma once

#include <string>

#include "advise/advice.h"
#include "base/json.h"

namespace zerotax::advise {

/// The object "zerotax.advise/1" (results/schema/advise.schema.json).
Json advise_json(const Advice& advice);

/// The object "zerotax.advise_self_test/1" (results/schema/advise_self_test.schema.json).
Json self_test_json(const SelfTest& test, const Request& request);

/// From that of an advice. At most 80 columns, but for the line to paste.
std::string advise_text(const Json& document);
/// Headings, paragraphs and a table that GitHub shows.
std::string advise_markdown(const Json& document);

/// What to do next: the line to paste that runs the program with the remedy. Empty if nothing helps.
std::string next_step(const Json& document);

}  // namespace zerotax::advise
