// One byte more, and an operation takes ten times the faults, or writes ten times the zeros; or a tenth of them.
#include <fmt/format.h>

#include <map>

#include "base/units.h"
#include "judge/cliff_edges.h"
#include "judge/points.h"
#include "judge/rule.h"

namespace zerotax {
namespace {

const std::vector<EvidenceMetric> kCliffMetrics{Metric::kZeroedBytes, Metric::kCallocFaults, Metric::kTouchFaults,
                                                Metric::kFreeFaults, Metric::kCallocNs};

Finding finding_at(const CliffEdge& edge) {
  Finding finding;
  finding.name = "cliff";
  finding.exact = true;
  finding.from_bytes = finding.to_bytes = finding.named_bytes = edge.at_bytes;
  finding.severity = edge.at_bytes >= kBigBlock ? Severity::kMedium : Severity::kLow;
  const std::string time = time_words(*edge.above, *edge.below);
  const std::string at = format_count(edge.at_bytes);
  if (edge.is_exact()) {
    finding.title = fmt::format("one byte more than {}, and {}{}", format_count(edge.at_bytes - 1), edge.words, time);
    finding.sentence = fmt::format(
        "At {} bytes ({}) the behaviour of calloc changes with one byte of size: {} an "
        "operation{}.",
        at, format_size(edge.at_bytes), edge.words, time);
  } else {
    // The metrics are of these two sizes, not of the two around the threshold.
    const std::string below = format_size(edge.below->size_bytes);
    const std::string above = format_size(edge.above->size_bytes);
    finding.title =
        fmt::format("from {} to {}, across the threshold at {} bytes, {}{}", below, above, at, edge.words, time);
    finding.sentence = fmt::format(
        "At {} bytes ({}) the behaviour of calloc changes: from {} below it to {} above, {} an operation{}.", at,
        format_size(edge.at_bytes), below, above, edge.words, time);
  }
  return finding;
}

std::vector<Finding> find_cliff(const FindingSubject& subject) {
  std::map<std::uint64_t, Finding> found;
  for (const CliffEdge& edge : cliff_edges(subject)) {
    Finding& finding = found.try_emplace(edge.at_bytes, finding_at(edge)).first->second;
    finding.evidence.push_back(evidence_of(*edge.below, kCliffMetrics));
    finding.evidence.push_back(evidence_of(*edge.above, kCliffMetrics));
  }
  std::vector<Finding> findings;
  findings.reserve(found.size());
  for (auto& entry : found) findings.push_back(std::move(entry.second));
  return findings;
}

const FindingRule cliff_rule("cliff", "faults or zeroed bytes change by ten times within one byte of size",
                             {"faults", "whole_faults"}, find_cliff);

}  // namespace
}  // namespace zerotax
