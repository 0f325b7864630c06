#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/measured.h"
#include "base/paired_times.h"
#include "point/typed_point.h"
#include "run/point_run.h"

namespace zerotax::compare {

/// The values of one exact metric, one for each audited process.
using Figures = std::vector<Measured<std::int64_t>>;

struct Work {
  RESULT("work",
         "The metrics of every process, which are compared exactly: more is worse. Empty if none was measured.");
  FIELD(Figures, zeroed_bytes, "Bytes that calloc zeroed.");
  FIELD(Figures, redundant_zeroed_bytes, "Zeroed bytes that were already zero.");
  FIELD(Figures, faults, "Minor faults in calloc, in the program's writes to the block, and in free.");
  FIELD(Figures, syscalls, "System calls in calloc and free.");
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

/// The measurements of one side of a comparison at one point.
struct ComparedSide {
  std::string allocator;                ///< name
  std::string invalid;                  ///< why the side cannot be compared, such as "crashed: …" or "not in OLD";
                                        ///< otherwise empty
  Work work;                            ///< the work of an operation
  std::optional<double> ns;             ///< time of an operation in the single process, if there are no pairs
  std::vector<std::string> modes = {};  ///< lines about kinds of calls (mode_lines), from the first process whose calls
                                        ///< were not alike
};

/// One point of a comparison. `before` is OLD, and `after` is NEW, which is judged.
struct ComparedPoint {
  std::string case_name;
  std::uint64_t size_bytes = 0;
  double touch = 0;
  std::string thread;
  ComparedSide before;
  ComparedSide after;
  std::vector<CostPair> pairs;  ///< a is OLD, b is NEW
  std::string invalid;          ///< the conditions that differ, if the sides cannot be compared for this reason

  /// Returns why there is no verdict on the point: the reason of OLD, of NEW or of the point, whichever is found first.
  /// Empty if there is a verdict.
  [[nodiscard]] std::string why_invalid() const;
};

/// Returns a key such as "calloc_loop/1048576/0.5/main". The key is unique among the points of one allocator, and
/// --explain accepts the key.
std::string compared_key(const ComparedPoint& point);

/// Moves the metrics of a measured point into a side: those of an audit or, with `with_times`, of a whole run.
void add_figures(const Point& point, bool with_times, Cost cost, ComparedSide& side);

/// The verdict of a comparison on one point.
enum class CompareKind { kSame, kFaster, kSlower, kAmbiguous, kInvalid };
ENUM_WORDS(CompareKind, "SAME", "FASTER", "SLOWER", "AMBIGUOUS", "INVALID")

/// One exact metric of a point.
struct WorkChange {
  std::string name;
  Measured<std::int64_t> before;  ///< value of OLD; n/a if the metric was not measured, or if its value differed
                                  ///< between processes
  Measured<std::int64_t> after;
  int direction = 0;     ///< +1 if NEW does more in every process, -1 if NEW does less, 0 if no difference is proven
  bool decides = false;  ///< whether the difference is large enough for a verdict; for bytes, is_change_of_zeroing
                         ///< decides
};

struct CompareVerdict {
  CompareKind kind = CompareKind::kInvalid;
  std::string reason;  ///< why this is the verdict, in words
  std::vector<WorkChange> work;
  TimeVerdict time;
};

/// Judges all points together: exact metrics by equality, times by their pairs (docs/compare.md).
std::vector<CompareVerdict> judge_points(const std::vector<ComparedPoint>& points, const CompareMethod& method = {});

/// Returns the pairs of all points, in the form that judge_times needs. Points that cannot be compared have no pairs.
std::vector<TimeSample> time_samples(const std::vector<ComparedPoint>& points);

/// Returns the exit status: 1 if a point is SLOWER, 3 if no point is SAME or FASTER, and 0 otherwise.
ExitStatus compare_status(const std::vector<CompareVerdict>& verdicts);

bool any_of_kind(const std::vector<CompareVerdict>& verdicts, CompareKind kind);

}  // namespace zerotax::compare
