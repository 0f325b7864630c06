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

#include "base/json.h"
#include "base/measured.h"
#include "point/typed_point.h"

namespace zerotax {

/// How much a finding matters (docs/findings.md says by which rule).
enum class Severity { kLow, kMedium, kHigh };
inline constexpr Severity kSeverities[] = {Severity::kHigh, Severity::kMedium, Severity::kLow};

/// "low", "medium", "high", and back. Throws UsageError for another word.
std::string severity_word(Severity severity);
Severity parse_severity(std::string_view word);

/// From blocks of this many bytes on, a finding matters more.
inline constexpr std::uint64_t kBigBlock = 1 << 20;

/// What of the page shows a finding at its best.
struct ShownIn {
  const char* figure;       ///< "time", "faults", "bytes" or "heat"
  const char* column = "";  ///< by its name in the page's address; empty: the figure's first
};

/// A metric by the name that it has in documents, whose end says its unit; or yes or no.
struct NamedMetric {
  std::string name;
  Measured<std::variant<std::uint64_t, double, bool>> value;
};
using NamedMetrics = std::vector<NamedMetric>;

/// In words: "calloc_ns 40.0 ms; zeroed_bytes 4,096 bytes; avoids yes". A metric that is n/a has its reason.
std::string metrics_text(const NamedMetrics& metrics);

/// A point that shows a finding, with the metrics that do.
struct EvidencePoint {
  std::string case_name;
  std::uint64_t size_bytes = 0;
  double touch = 0;
  std::string thread;
  NamedMetrics metrics;
};

/// One thing that an allocator does needlessly, with all the points that show it.
struct Finding {
  std::string rule;              ///< set by whoever applies the rule
  std::string name;              ///< its rule, and what distinguishes it within the rule, as in "redundant-fresh-first"
  std::uint64_t from_bytes = 0;  ///< smallest and largest measured size that show it
  std::uint64_t to_bytes = 0;    ///< both ends included
  std::uint64_t named_bytes = 0;  ///< the size in its id, which it keeps when other sizes are measured
  bool exact = false;             ///< named_bytes is the very byte at which it happens
  Severity severity = Severity::kLow;
  std::string title;                    ///< one line, with ratio and size
  std::string sentence;                 ///< one sentence in plain words
  std::optional<ShownIn> shown_in;      ///< nothing: what its rule says
  std::vector<EvidencePoint> evidence;  ///< all that show it
};

/// Environment variables, in the order in which an allocator's project gives them.
struct Settings : std::vector<std::pair<std::string, std::string>> {
  using vector::vector;
};

/// "KEY=VALUE" of each.
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

  /// "mimalloc 2.0.9"; "mimalloc" where the version is not known.
  [[nodiscard]] std::string name() const { return allocator + (version ? " " + *version : ""); }
  /// " KEY=VALUE", behind `with`; "" without settings.
  [[nodiscard]] std::string settings(const char* with = " ") const;
  [[nodiscard]] std::uint64_t count(Severity severity) const;
};

/// "mimalloc-redundant-fresh-100MiB".
std::string finding_id(const std::string& allocator, const Finding& finding);

/// The size that names a range of sizes: the first of 100 MiB, 20 MiB, 1 MiB, 256 KiB, 64 KiB that lies in it, else its
/// largest; so that an id stays the same on another grid of sizes.
std::uint64_t named_size(std::uint64_t from_bytes, std::uint64_t to_bytes);

/// "100 MiB", or "20 MiB to 1 GiB".
std::string range_text(std::uint64_t from_bytes, std::uint64_t to_bytes);

/// A threshold of a run (zerotax.thresholds/1), as far as rules look at it.
struct MeasuredThreshold {
  std::string allocator;
  double touch = 0;
  std::string thread;
  std::uint64_t after_bytes = 0;
  std::uint64_t at_bytes = 0;
  bool exact = false;
  bool noisy = false;
};

/// What a rule looks at: all that was measured of one allocator in one configuration.
struct FindingSubject {
  std::string allocator;
  std::vector<const Point*> points;                  ///< of this allocator
  std::vector<const MeasuredThreshold*> thresholds;  ///< of this allocator
  std::vector<const Point*> edges;     ///< of this allocator, on both sides of its thresholds, one byte apart
  std::vector<const Point*> peers;     ///< points of the other allocators of the same run
  std::vector<const Point*> controls;  ///< of this allocator: the same points on every host of a fleet
};

/// A rule over measured points: one static object of this kind in judge/rules/<name>.cc. Deterministic metrics
/// decide; times only illustrate.
class FindingRule {
 public:
  using Find = std::vector<Finding> (*)(const FindingSubject& subject);

  /// `name`: as in the ids of its findings; `meaning`: for people, one line; `shown_in`: of its findings, unless one
  /// says otherwise.
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

/// What the finding's rule looks for, in a line.
std::string meaning_of(const Finding& finding);

/// Reads the thresholds of a run from the object of thresholds.json; null has none.
struct MeasuredThresholds {
  std::vector<MeasuredThreshold> all;
  MeasuredThresholds() = default;
  MeasuredThresholds(const Json& document);  // NOLINT(google-explicit-constructor)
};

/// Measurements of a run beside its points.
struct BesidePoints {
  std::vector<Point> edges;     ///< on both sides of thresholds, one byte apart (edges_plan)
  std::vector<Point> controls;  ///< the same points on every host of a fleet
};

/// The input of rules, one for each allocator and configuration of a run, in order of appearance. It points into its
/// arguments.
std::vector<FindingSubject> subjects_of(const std::vector<Point>& points, const MeasuredThresholds& thresholds,
                                        const BesidePoints& beside);

/// Applies every rule to the points of a run, its thresholds and what was measured beside them. One entry per allocator
/// and configuration, in order of appearance, those without findings too. `rules`: the names of the rules to apply;
/// empty: all.
std::vector<AllocatorFindings> find_findings(const std::vector<Point>& points,
                                             const MeasuredThresholds& thresholds = {}, const BesidePoints& beside = {},
                                             const std::vector<std::string>& rules = {});

}  // namespace zerotax
