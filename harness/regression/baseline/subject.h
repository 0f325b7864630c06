#pragma once

#include <set>
#include <string>
#include <vector>

#include "baseline/baseline.h"
#include "cli/measure_options.h"
#include "point/plan.h"

namespace zerotax::baseline {

/// The parts of a baseline to compare, and how exactly.
struct CheckScope {
  std::vector<std::uint64_t> sizes;  ///< only points of these; empty: all. With sizes, no thresholds
  bool all_metrics = true;           ///< else only these; whether a point fails is compared nevertheless
  std::vector<Metric> metrics;
  bool thresholds = true;
  Tolerances tolerances;
};

/// The words that --only takes.
std::vector<std::string> compared_words();

/// From the words of --size, --only (the key of a metric, or "thresholds") and --tolerance (METRIC=N, METRIC=N%,
/// METRIC=SIZE). Throws UsageError, with the metrics to choose from, for one that no baseline holds.
CheckScope parse_scope(const std::vector<std::string>& sizes, const std::vector<std::string>& only,
                       const std::vector<std::string>& tolerances);

/// Throws UsageError for a size that is not among those that are held: `problem` and the size, and what there is.
void refuse_other_sizes(const std::vector<std::uint64_t>& sizes, const std::set<std::uint64_t>& held,
                        const std::string& problem);

/// A baseline without the sizes and thresholds that are out of scope. Throws UsageError if it has no point of a size.
/// `file` is for the message.
Baseline cut_to_sizes(const Baseline& baseline, const CheckScope& scope, const std::string& file);

/// The same without the metrics that are; of thresholds alone, without points.
Baseline cut_to_metrics(const Baseline& baseline, const CheckScope& scope);

/// An allocator and the baseline that it is compared with.
struct CheckSubject {
  Allocator allocator;
  std::string path;  ///< of the baseline
  Baseline baseline;
  std::vector<std::string> notes;  ///< sentences on settings that came from the baseline, not the command line
  std::string accept;              ///< the command that makes the new measurement the baseline
};

/// Finds for each allocator its baseline: `baseline` is a file, or a folder of files named by baseline_file_name.
/// Without --allocator, a file names the built-in allocator, and a folder means all of them. Without --env, the
/// configuration is the baseline's; a different --env gives a note. Reads everything before anything is measured.
/// Throws UsageError, with the command to give instead, if there is no baseline. Without `force`, it also throws if the
/// baseline belongs to another allocator. The same library under another name (NAME=PATH) is not another allocator.
std::vector<CheckSubject> resolve_subjects(const MeasureOptions& options, const std::string& baseline, bool force);

/// Throws UsageError if `bless` would overwrite anything but a baseline of this allocator in this configuration.
void check_overwrite(const Allocator& allocator, const std::string& path, bool force);

/// The word of --allocator: "glibc", "mine=./libmine.so".
std::string word_of(const Allocator& allocator);

}  // namespace zerotax::baseline
