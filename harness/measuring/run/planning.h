#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "point/plan.h"

namespace zerotax {

/// Bytes that an operation of a point needs at most, if the allocator keeps nothing.
std::uint64_t memory_needed(const PointSpec& point);

/// The dimensions whose product is a plan.
struct PlanAxes {
  std::vector<std::string> cases;
  std::vector<std::uint64_t> sizes;
  std::vector<double> touches;
  std::vector<std::string> threads;
};

/// Throws UsageError for an unknown case, a size outside the address space, a touched fraction outside 0 to 1,
/// or an unknown thread.
void check_axes(const PlanAxes& axes);

/// Adds every combination that is not there yet, sizes outermost and allocators innermost.
void add_points(Plan& plan, const PlanAxes& axes, const Repeats& repeats);

/// The plan of plan_json, with its allocators as they are here. Throws UsageError if it is not a plan, or an allocator
/// has another version now.
Plan plan_from_json(const Json& json, const std::string& file);

/// Adds to a study what a program meets that receives into buffers larger than what it gets (cases/recv_buffer): quick,
/// a size on each side of what an allocator caches; full, every octave from 16 KiB to 1 GiB, with and without TLS.
/// Nothing where this build has no server for the case.
void add_receive_points(Plan& plan, bool full);

/// Few operations: an allocator that zeroes takes seconds for one of a gigabyte, and a loop without meters follows
/// anyway.
Repeats receive_repeats(std::uint64_t size_bytes);

}  // namespace zerotax
