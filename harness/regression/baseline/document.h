#pragma once

#include <string>
#include <vector>

#include "baseline/result.h"

namespace zerotax::baseline {

/// Returns the JSON of a "zerotax.baseline/1" document (results/schema/baseline.schema.json).
Json to_json(const Baseline& baseline);

/// Converts JSON that matches the schema into a baseline. Throws std::invalid_argument, with the place, if a point is
/// unreadable, contradicts itself or occurs twice.
Baseline baseline_from_json(const Json& json);

/// Reads and checks a whole file, so that callers can rely on its content. Throws UsageError if the file is not a
/// regular file, not JSON, not a baseline, or damaged.
Baseline read_baseline(const std::string& path);
/// Reads and checks a baseline of programs. Throws UsageError in the same cases as read_baseline.
std::vector<Program> read_programs(const std::string& path);

/// Returns the part of an environment that a baseline stores: "kernel", "cpu", "thp", "cpus", "page_bytes", "libc",
/// "pagemap_scan", and the version of zerotax.
BaselineConditions conditions_of(const Environment& environment);
/// Returns, in words, the conditions of this machine for a program that uses this allocator.
ProgramConditions conditions_now(const std::string& allocator);

/// Returns the steady state of a point: its status and kSteadyMetrics.
Json steady_json(const Point& point);

}  // namespace zerotax::baseline
