#pragma once

#include <string>

#include "check/result.h"

namespace zerotax::check {

/// The object of "zerotax.baseline/1" (results/schema/baseline.schema.json).
Json to_json(const Baseline& baseline);

/// The same read again: `json` is as its schema says. Throws std::invalid_argument, with the place, for a point that
/// cannot be read, contradicts itself, or occurs twice.
Baseline baseline_from_json(const Json& json);

/// What of an environment a baseline keeps: "kernel", "cpu", "thp", "cpus", "page_bytes", "libc",
/// "pagemap_scan", and the version of zerotax.
Json conditions_of(const Environment& environment);

/// The object of "zerotax.check/1" (results/schema/check.schema.json). Every sentence that the terminal or anything
/// else shows is in it.
Json check_json(const Check& check);

/// Reads a file, and checks all of it, so that those who compare with it can rely on what is there. Throws UsageError
/// for what is not a regular file, not JSON, not a baseline, or damaged.
Baseline read_baseline(const std::string& path);

}  // namespace zerotax::check
