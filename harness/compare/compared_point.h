#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "core/paired_runs.h"
#include "core/typed_point.h"

namespace zerotax::compare {

/// What one side of a comparison showed at one point.
struct ComparedSide {
  std::string allocator;  ///< name
  std::string invalid;    ///< why nothing of it can be compared: "crashed: …", "not in OLD"; empty if it can
  /// What an operation does, by figure (kWorkFigures): one value for each process that was looked at, a whole number or
  /// {"na": why}.
  std::map<std::string, std::vector<Json>> work;
  std::optional<double> ns;             ///< of one process, where there are no pairs: an operation's time
  std::vector<std::string> modes = {};  ///< of the first process whose calls were not alike: mode_lines
};

/// The figures that are compared exactly; more is worse. Bytes; minor faults and system calls of an operation.
inline constexpr const char* kWorkFigures[] = {"zeroed_bytes", "redundant_zeroed_bytes", "faults", "syscalls"};

/// One point of a comparison, OLD before and NEW after the change that is judged.
struct ComparedPoint {
  std::string case_name;
  std::uint64_t size_bytes = 0;
  double touch = 0;
  std::string thread;
  ComparedSide before;
  ComparedSide after;
  std::vector<CostPair> pairs;  ///< a: OLD, b: NEW
  std::string invalid;          ///< why the two cannot be compared: which conditions differ
};

/// "calloc_loop/1048576/0.5/main": what --explain takes, and what is unique among points of one allocator.
std::string compared_key(const ComparedPoint& point);

/// Moves the figures of a measured point into a side: an audit's, or a whole run's with
/// `with_times`.
void add_figures(const Point& point, bool with_times, Cost cost, ComparedSide& side);

}  // namespace zerotax::compare
