#pragma once

#include <string>
#include <vector>

#include "base/answer.h"
#include "base/json.h"
#include "base/table.h"
#include "judge/document.h"
#include "judge/rule.h"
#include "point/typed_point.h"

namespace zerotax::findings {

/// Returns a sentence with the number of findings of each severity, and the first of the most severe findings.
std::string findings_sentence(const std::vector<AllocatorFindings>& all);

/// Returns a phrase such as "3 findings: 1 high, 2 low" or "no findings".
std::string findings_count(const std::vector<AllocatorFindings>& all);
std::size_t number_of(const std::vector<AllocatorFindings>& all);

/// Returns the findings as text of at most 80 columns.
std::string findings_text(const std::vector<AllocatorFindings>& all, const Palette& palette = {});

/// Returns a list such as "a", "a and b" or "a, b and c".
std::string listed(const std::vector<std::string>& names);

struct FindingsDocument {
  RESULT("zerotax findings",
         "Findings in measured points: the document of zerotax findings --json, and findings.json of a results folder. "
         "JSON Schema cannot express that ids are unique, or that the findings of one allocator are adjacent, with the "
         "most costly first.");
  FIELD(std::string, schema, "Name and version of this format.", one_of("zerotax.findings/1"));
  FIELD(std::string, run, "Source of the points: the results folder or file, as given on the command line.");
  FIELD(std::vector<FindingEntry>, findings, "One entry for each cause.");
  FIELD(std::string, sentence, "The number of findings of each severity, and the first of the most severe findings.",
        kLater);
};

/// Returns the object of "zerotax.findings/1"; `run` is the source of the points.
Json findings_json(const std::vector<AllocatorFindings>& all, const std::string& run);

/// Returns a command for the next step: a bug report of the first of the most severe findings. The command names the
/// allocator by the word with which it was measured. The result is empty if no allocator has a finding to report.
std::string next_step(const std::vector<AllocatorFindings>& all, const std::vector<Point>& points);

/// Returns the answer; the most severe findings come first. `run` is the source of the points, and `notes` are
/// sentences about points without a result.
Answer findings_answer(const std::vector<AllocatorFindings>& all, const std::vector<Point>& points,
                       const std::string& run, const std::vector<std::string>& notes, const Palette& palette = {});

}  // namespace zerotax::findings
