#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "point/plan.h"

namespace zerotax {

/// Returns the maximum bytes that an operation of a point needs if the allocator keeps nothing.
std::uint64_t memory_needed(const PointSpec& point);

/// The dimensions of a plan. The plan has a point for each combination of their values.
struct PlanAxes {
  std::vector<std::string> cases;
  std::vector<std::uint64_t> sizes;
  std::vector<double> touches;
  std::vector<std::string> threads;
};

/// Throws UsageError for an unknown case or thread, a size outside the address space, or a touched fraction outside 0
/// to 1.
void check_axes(const PlanAxes& axes);

/// Adds every combination that the plan lacks. Sizes are the outermost loop, and allocators the innermost.
void add_points(Plan& plan, const PlanAxes& axes, const Repeats& repeats);

/// Returns the plan in the JSON of plan_json(), with its allocators as installed on this machine. Throws UsageError if
/// the JSON is not a plan, or the version of an allocator has changed.
Plan plan_from_json(const Json& json, const std::string& file);

/// Adds points to a study for programs that receive data into buffers (cases/recv_buffer). A quick study gets a size on
/// each side of the largest block that largecache keeps. A full study gets every power of two from 16 KiB to 1 GiB,
/// with and without TLS. Adds nothing if this build has no server for the case.
void add_receive_points(Plan& plan, bool full);

/// Returns the numbers of operations for receiving. The numbers are small, because one operation on a gigabyte takes
/// seconds in an allocator that zeroes, and more operations follow in a loop without meters.
Repeats receive_repeats(std::uint64_t size_bytes);

}  // namespace zerotax
