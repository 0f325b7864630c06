#pragma once

#include <string>
#include <vector>

#include "baseline/result.h"

namespace zerotax::baseline {

/// The object of "zerotax.baseline/1" (results/schema/baseline.schema.json).
Json to_json(const Baseline& baseline);

/// The same read again: `json` is as its schema says. Throws std::invalid_argument, with the place, for a point that
/// cannot be read, contradicts itself, or occurs twice.
Baseline baseline_from_json(const Json& json);

/// A program of a baseline, and back. from_json throws a Json exception for what to_json has not made.
void to_json(Json& json, const Program& program);
void from_json(const Json& json, Program& program);

/// The object "zerotax.program_baseline/1" (results/schema/program_baseline.schema.json).
Json programs_json(const std::vector<Program>& programs);

/// Reads a file, and checks all of it, so that those who compare with it can rely on what is there. Throws UsageError
/// for what is not a regular file, not JSON, not a baseline, or damaged.
Baseline read_baseline(const std::string& path);
/// Reads and checks a baseline of programs likewise.
std::vector<Program> read_programs(const std::string& path);

/// What of an environment a baseline keeps: "kernel", "cpu", "thp", "cpus", "page_bytes", "libc",
/// "pagemap_scan", and the version of zerotax.
Json conditions_of(const Environment& environment);
/// The conditions of this machine for a program that calls this allocator, in words.
Json conditions_now(const std::string& allocator);

/// The object of "zerotax.check/1" (results/schema/check.schema.json). Every sentence that the terminal or anything
/// else shows is in it.
Json check_json(const AllocatorChecks& checks);
/// The objects of "zerotax.program_check/1" and "zerotax.program_checks/1" (results/schema).
Json check_json(const ProgramCheck& check);
Json check_json(const ProgramChecks& checks);

// Parts of baselines and of the documents of checks.
void to_json(Json& json, const PointIdentity& point);
void to_json(Json& json, const SeenRange& range);
/// The steady state of a point: its status and kSteadyMetrics.
Json steady_json(const Point& point);
void to_json(Json& json, const ProgramChange& value);
void to_json(Json& json, const SiteChange& value);

}  // namespace zerotax::baseline
