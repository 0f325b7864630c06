#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "base/measured.h"
#include "judge/signature.h"
#include "point/typed_point.h"

namespace zerotax {

/// The importance of a finding. docs/findings.md has the rule.
enum class Severity { kLow, kMedium, kHigh };
ENUM_WORDS(Severity, "low", "medium", "high")
inline constexpr Severity kSeverities[] = {Severity::kHigh, Severity::kMedium, Severity::kLow};

/// Words of severities: "low", "medium" and "high". Throws UsageError for another word.
std::string severity_word(Severity severity);
Severity parse_severity(std::string_view word);

/// Minimum block size in bytes at which a finding matters more.
inline constexpr std::uint64_t kBigBlock = 1 << 20;

/// The figure and the column of the page that show a finding best.
struct ShownIn {
  const char* figure;       ///< "time", "faults", "bytes" or "heat"
  const char* column = "";  ///< the column's name in the page's address; empty for the figure's first column
};

/// A metric, or a yes or no, under its name in documents. The name of a metric ends with its unit.
struct NamedMetric {
  std::string name;
  Measured<std::variant<std::uint64_t, double, bool>> value;
};

/// Metrics as a JSON object {NAME: value or {"na": why}}, which keeps their order.
struct NamedMetrics : std::vector<NamedMetric> {
  using vector::vector;
  static constexpr const char* kSchema = R"({
    "type": "object",
    "additionalProperties": {
      "anyOf": [{"type": "number", "minimum": 0}, {"type": "boolean"}, {"$ref": "point.schema.json#/$defs/na"}]
    }
  })";
};
void to_json(Json& json, const NamedMetrics& metrics);

/// Metrics in words, such as "calloc_ns 40.0 ms; zeroed_bytes 4,096 bytes; avoids yes". A metric that is n/a has its
/// reason.
std::string metrics_text(const NamedMetrics& metrics);

/// A point that shows a finding, with the metrics that show it.
struct EvidencePoint {
  std::string case_name;
  std::uint64_t size_bytes = 0;
  double touch = 0;
  std::string thread;
  NamedMetrics metrics;
};

/// One thing that an allocator does needlessly, with all the points that show it.
struct Finding {
  std::string rule;               ///< set by the function that applies the rule
  std::string name;               ///< the rule, and the part that distinguishes the finding within the rule, as in
                                  ///< "redundant-fresh-first"
  std::uint64_t from_bytes = 0;   ///< smallest measured size that shows the finding
  std::uint64_t to_bytes = 0;     ///< largest measured size that shows the finding
  std::uint64_t named_bytes = 0;  ///< the size in the id, which stays the same when other sizes are measured
  bool exact = false;             ///< whether the finding starts at exactly named_bytes
  Severity severity = Severity::kLow;
  std::string title;                    ///< the finding in one line, with ratio and size
  std::string sentence;                 ///< the finding in one sentence of plain words
  std::optional<ShownIn> shown_in;      ///< no value if the rule's shown_in applies
  std::vector<EvidencePoint> evidence;  ///< all points that show the finding
};

/// Environment variables, in the order in which an allocator's project gives them.
struct Settings : std::vector<std::pair<std::string, std::string>> {
  using vector::vector;
  static constexpr const char* kSchema = R"({"type": "object", "additionalProperties": {"type": "string"}})";
};
void to_json(Json& json, const Settings& settings);
void from_json(const Json& json, Settings& settings);

/// Returns each setting as "KEY=VALUE".
template <typename Environment>
std::vector<std::string> setting_words(const Environment& env) {
  std::vector<std::string> words;
  words.reserve(env.size());
  for (const auto& [key, value] : env) words.push_back(fmt::format("{}={}", key, value));
  return words;
}

/// The findings of one allocator in one configuration.
struct AllocatorFindings {
  std::string allocator;
  Measured<std::string> version;
  std::map<std::string, std::string> env;
  std::vector<Finding> findings;  ///< most costly first

  /// The allocator with its version, such as "mimalloc 2.0.9"; only the allocator if the version is unknown.
  [[nodiscard]] std::string name() const { return allocator + (version ? " " + *version : ""); }
  /// The settings, as in " KEY=VALUE", after the text `with`; empty if there are none.
  [[nodiscard]] std::string settings(const char* with = " ") const;
  [[nodiscard]] std::uint64_t count(Severity severity) const;
};

/// The finding's id, such as "mimalloc-redundant-fresh-100MiB".
std::string finding_id(const std::string& allocator, const Finding& finding);

/// The size that names a range: the first of 100 MiB, 20 MiB, 1 MiB, 256 KiB and 64 KiB that lies in the range, else
/// the largest size. An id thus stays the same if the grid of sizes changes.
std::uint64_t named_size(std::uint64_t from_bytes, std::uint64_t to_bytes);

/// The range for people, such as "100 MiB" or "20 MiB to 1 GiB".
std::string range_text(std::uint64_t from_bytes, std::uint64_t to_bytes);

/// A threshold of a run.
struct MeasuredThreshold {
  static constexpr Limit kMostBytes = most(140737488355328);

  RESULT("threshold", "A size at which behavior changes.");
  FIELD(std::string, allocator, "Name of the allocator, as in the lane.");
  FIELD(double, touch, "Fraction of the pages that the program writes between calloc and free, from 0 to 1.",
        as_in("point.schema.json#/properties/touch"));
  FIELD(std::string, thread, "The thread that calls the allocator.", as_in("point.schema.json#/properties/thread"));
  FIELD(std::uint64_t, after_bytes,
        "The largest size known to behave as in `below`, in bytes; at_bytes - 1 if the threshold is exact.", least(1),
        kMostBytes);
  FIELD(std::uint64_t, at_bytes, "The smallest size known to behave as in `above`, in bytes.", least(2), kMostBytes);
  FIELD(bool, exact,
        "Whether the threshold was found to the byte. False if sizes between after_bytes and at_bytes behaved "
        "differently when probed again, if behavior changed too often, or if zeroing in free is unknown there.");
  FIELD(Signature, below, "Behavior at the size after_bytes.");
  FIELD(Signature, above, "Behavior at the size at_bytes.");
  FIELD(BehaviourChanges, changes, "The changes of behavior at the threshold, in words.", least_items(1));
  FIELD(bool, noisy, "Whether one of the two sides behaved differently when probed again.");
  // Absent if a case other than calloc_loop was searched.
  FIELD(std::optional<bool>, steady,
        "Whether the steady state changes at the threshold. If false, only the first calloc of a process changes.");
  FIELD(std::optional<bool>, doubtful, "Whether the threshold is unreliable: noisy, or not exact.");
};

/// The input of a rule: all measurements of one allocator in one configuration.
struct FindingSubject {
  std::string allocator;
  std::vector<const Point*> points;                  ///< points of this allocator
  std::vector<const MeasuredThreshold*> thresholds;  ///< thresholds of this allocator
  std::vector<const Point*> edges;     ///< points of this allocator on both sides of its thresholds, one byte apart
  std::vector<const Point*> peers;     ///< points of the other allocators of the same run
  std::vector<const Point*> controls;  ///< control points of this allocator, measured on every host of a fleet
};

/// A rule over measured points. Each judge/rules/<name>.cc has static objects of this class, one per rule.
/// Deterministic metrics decide; times only illustrate.
class FindingRule {
 public:
  using Find = std::vector<Finding> (*)(const FindingSubject& subject);

  /// `name` begins the names of the rule's findings. `meaning` is one line for people. `shown_in` applies to findings
  /// that have no `shown_in` of their own.
  FindingRule(const char* name, const char* meaning, ShownIn shown_in, Find function);

  [[nodiscard]] const char* name() const { return name_; }
  [[nodiscard]] const char* meaning() const { return meaning_; }
  [[nodiscard]] const ShownIn& shown_in() const { return shown_in_; }
  [[nodiscard]] std::vector<Finding> find(const FindingSubject& subject) const { return find_(subject); }

  /// Every rule, by name.
  static const std::vector<const FindingRule*>& all();

 private:
  const char* name_;
  const char* meaning_;
  ShownIn shown_in_;
  Find find_;
};

/// A line that describes the finding's rule.
std::string meaning_of(const Finding& finding);

/// The thresholds of a run, read from the JSON of thresholds.json; none if the JSON is null.
struct MeasuredThresholds {
  std::vector<MeasuredThreshold> all;
  MeasuredThresholds() = default;
  MeasuredThresholds(const Json& document);  // NOLINT(google-explicit-constructor)
};

/// Measurements of a run other than its points.
struct BesidePoints {
  std::vector<Point> edges;     ///< points on both sides of thresholds, one byte apart (edges_plan)
  std::vector<Point> controls;  ///< control points, measured on every host of a fleet
};

/// Returns the input of rules, one for each allocator and configuration of a run, in order of appearance. The result
/// refers to the function's arguments, which must outlive the result.
std::vector<FindingSubject> subjects_of(const std::vector<Point>& points, const MeasuredThresholds& thresholds,
                                        const BesidePoints& beside);

/// Applies the rules to the points, the thresholds and the other measurements of a run. Returns one entry per allocator
/// and configuration, in order of appearance, even without findings. `rules` are the names of the rules to apply; empty
/// means all.
std::vector<AllocatorFindings> find_findings(const std::vector<Point>& points,
                                             const MeasuredThresholds& thresholds = {}, const BesidePoints& beside = {},
                                             const std::vector<std::string>& rules = {});

}  // namespace zerotax
