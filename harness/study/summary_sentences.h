#pragma once

#include <vector>

#include "base/json.h"
#include "findings/tax.h"

namespace zerotax::study {

/// The sentences of the summary, in the order of the summary: {part, subject, text, link or command or
/// allocator} (results/schema/summary.schema.json). Code in a text stands between backticks. `run`: of the summary;
/// `left_out`: that times were left out, or empty.
Json summary_sentences(const findings::Verdicts& verdicts, const Json& run, const std::string& left_out);

/// What shows a point in the figures of the page.
Json link_to(const char* figure, const std::string& case_name, double touch, const std::string& thread,
             std::optional<std::uint64_t> size_bytes);

}  // namespace zerotax::study
