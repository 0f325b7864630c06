#pragma once

#include <set>
#include <string>
#include <vector>

#include "baseline/baseline.h"
#include "cli/measure_options.h"
#include "point/plan.h"

namespace zerotax::baseline {

/// The parts of a baseline to compare, and the tolerances.
struct CheckScope {
  std::vector<std::uint64_t> sizes;  ///< compare only points of these sizes, without thresholds; empty for all sizes
  bool all_metrics = true;           ///< if false, compare only the metrics below; whether a point fails is always
                                     ///< compared
  std::vector<Metric> metrics;
  bool thresholds = true;
  Tolerances tolerances;
};

/// Returns the words that --only takes.
std::vector<std::string> compared_words();

/// Makes a scope from the values of --size, --only (the key of a metric, or "thresholds") and --tolerance (METRIC=N,
/// METRIC=N%, METRIC=SIZE). Throws UsageError, with the available metrics, for a metric that no baseline contains.
CheckScope parse_scope(const std::vector<std::string>& sizes, const std::vector<std::string>& only,
                       const std::vector<std::string>& tolerances);

/// Throws UsageError for a size that is unavailable. The message contains `problem`, the size, and the available sizes.
void refuse_other_sizes(const std::vector<std::uint64_t>& sizes, const std::set<std::uint64_t>& held,
                        const std::string& problem);

/// Returns a baseline without the sizes and thresholds that are out of scope. Throws UsageError if it has no point of a
/// requested size. `file` is for the message.
Baseline cut_to_sizes(const Baseline& baseline, const CheckScope& scope, const std::string& file);

/// Returns a baseline without the metrics that are out of scope, and without points if only thresholds are compared.
Baseline cut_to_metrics(const Baseline& baseline, const CheckScope& scope);

/// An allocator and the baseline with which it is compared.
struct CheckSubject {
  Allocator allocator;
  std::string path;  ///< path of the baseline
  Baseline baseline;
  std::vector<std::string> notes;  ///< sentences on settings that came from the baseline, not the command line
  std::string accept;              ///< the command that makes the new measurement the baseline
};

/// Finds the baseline of each allocator. `baseline` is a file, or a folder of files named by baseline_file_name.
/// Without --allocator, a file names its built-in allocator, and a folder means all built-in allocators. Without --env,
/// the configuration is the baseline's; a different --env gives a note. Reads everything before any measurement. Throws
/// UsageError, with the command to use instead, if there is no baseline. Without `force`, also throws if the baseline
/// belongs to another allocator. The same library under another name (NAME=PATH) is not another allocator.
std::vector<CheckSubject> resolve_subjects(const MeasureOptions& options, const std::string& baseline, bool force);

/// Throws UsageError if `bless` would overwrite anything other than a baseline of this allocator in this configuration.
void check_overwrite(const Allocator& allocator, const std::string& path, bool force);

}  // namespace zerotax::baseline
