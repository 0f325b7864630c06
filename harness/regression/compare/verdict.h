#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/measured.h"
#include "base/paired_times.h"
#include "point/typed_point.h"
#include "run/point_run.h"

namespace zerotax::compare {

/// One exact figure of each process that was looked at.
using Figures = std::vector<Measured<std::int64_t>>;

/// The figures that are compared exactly; more is worse. Bytes; minor faults and system calls of an operation. Their
/// names are those of the documents.
struct Work {
  Figures zeroed_bytes;
  Figures redundant_zeroed_bytes;
  Figures faults;
  Figures syscalls;
  bool operator==(const Work&) const = default;
};

struct WorkFigure {
  const char* name;
  Figures Work::*of;
};
inline constexpr WorkFigure kWorkFigures[] = {{"zeroed_bytes", &Work::zeroed_bytes},
                                              {"redundant_zeroed_bytes", &Work::redundant_zeroed_bytes},
                                              {"faults", &Work::faults},
                                              {"syscalls", &Work::syscalls}};

/// What one side of a comparison showed at one point.
struct ComparedSide {
  std::string allocator;                ///< name
  std::string invalid;                  ///< why nothing of it can be compared: "crashed: …", "not in OLD"; else empty
  Work work;                            ///< what an operation does
  std::optional<double> ns;             ///< of one process, where there are no pairs: an operation's time
  std::vector<std::string> modes = {};  ///< of the first process whose calls were not alike: mode_lines
};

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

  /// Why there is no verdict on it, as the first of the three says; empty if there is one.
  [[nodiscard]] std::string why_invalid() const;
};

/// "calloc_loop/1048576/0.5/main": what --explain takes, and what is unique among points of one allocator.
std::string compared_key(const ComparedPoint& point);

/// Moves the figures of a measured point into a side: an audit's, or a whole run's with
/// `with_times`.
void add_figures(const Point& point, bool with_times, Cost cost, ComparedSide& side);

/// The verdict of a comparison on one point.
enum class CompareKind { kSame, kFaster, kSlower, kAmbiguous, kInvalid };

/// "SAME", "FASTER", "SLOWER", "AMBIGUOUS", "INVALID".
const char* compare_word(CompareKind kind);

/// One exact figure of a point.
struct WorkChange {
  std::string name;
  Measured<std::int64_t> before;  ///< n/a also if processes disagree
  Measured<std::int64_t> after;
  int direction = 0;     ///< +1: NEW does more of it in every process, -1: less, 0: no difference that is proven
  bool decides = false;  ///< the difference is large enough for a verdict: for bytes, a tenth of the block
};

struct CompareVerdict {
  CompareKind kind = CompareKind::kInvalid;
  std::string reason;  ///< in words
  std::vector<WorkChange> work;
  TimeVerdict time;
};

/// Judges all points together: exact figures by equality, times by their pairs (docs/compare.md).
std::vector<CompareVerdict> judge_points(const std::vector<ComparedPoint>& points, const CompareMethod& method = {});

/// The pairs of all points, in the form that judge_times needs. Points that cannot be compared have none.
std::vector<TimeSample> time_samples(const std::vector<ComparedPoint>& points);

/// 1 if a point is SLOWER; else 3 if none is SAME or FASTER; else 0.
ExitStatus compare_status(const std::vector<CompareVerdict>& verdicts);

bool any_of_kind(const std::vector<CompareVerdict>& verdicts, CompareKind kind);

}  // namespace zerotax::compare
