#pragma once

#include <string>

#include "base/json.h"
#include "programs/comparison.h"

namespace zerotax::programs {

/// A program of a baseline, and back. from_json throws a Json exception for what to_json has not made.
void to_json(Json& json, const Program& program);
void from_json(const Json& json, Program& program);

/// The object "zerotax.program_baseline/1" (results/schema/program_baseline.schema.json).
Json baseline_json(const Baseline& baseline);

/// Reads a file, and checks all of it. Throws UsageError for what is no baseline of programs, or damaged.
Baseline read_baseline(const std::string& path);

/// The object "zerotax.program_check/1" (results/schema/program_check.schema.json).
Json check_json(const Check& check);

/// The object "zerotax.program_checks/1" (results/schema/program_checks.schema.json).
Json checks_json(const Checks& checks);

/// The object "zerotax.program_compare/1" (results/schema/program_compare.schema.json).
Json compare_json(const Comparison& comparison);

/// The conditions of this machine for a program that calls this allocator, in words.
Json conditions_now(const std::string& allocator);

}  // namespace zerotax::programs
