#pragma once

#include <cstdint>
#include <string>

#include "judge/comparison.h"
#include "record/runs/run.h"

namespace zerotax::programs {

// A run of a command, and what is counted of it, are record's.
using record::runs::ByEnum;
using record::runs::ByMetric;
using record::runs::BySiteNumber;
using record::runs::Command;
using record::runs::CommandRun;
using record::runs::Family;
using record::runs::key_of;
using record::runs::kMetrics;
using record::runs::kSiteNumbers;
using record::runs::Metric;
using record::runs::metric_rows;
using record::runs::MetricRow;
using record::runs::name_of;
using record::runs::Place;
using record::runs::Role;
using record::runs::row_of;
using record::runs::run_of;
using record::runs::run_once;
using record::runs::run_plain;
using record::runs::Site;
using record::runs::SiteKey;
using record::runs::SiteNumber;
using record::runs::SiteOf;
using record::runs::SiteValues;
using record::runs::Target;
using record::runs::target_for;
using record::runs::targets_for;
using record::runs::Values;
using record::runs::words_of;

using Ranges = ByMetric<Measured<Range>>;

using SiteRange = SiteOf<Range>;

/// "71,697", "64 MiB".
std::string format_value(Unit unit, std::uint64_t value);

/// "71,697 to 71,702", or one value.
std::string format_range(Unit unit, const Range& range);

/// The distance outside a range that is still no change: 2 % of the highest value, but at least 16 (counts) or 64 KiB
/// (bytes).
std::uint64_t least_slack(Unit unit, const Range& range);
/// The same distance, but at least the width of the range.
std::uint64_t slack_of(Unit unit, const Range& range);

}  // namespace zerotax::programs
