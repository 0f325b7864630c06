#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/paired_times.h"
#include "compare/compared_point.h"

namespace zerotax::compare {

/// What a comparison says of one point.
enum class CompareKind { kSame, kFaster, kSlower, kAmbiguous, kInvalid };

/// "SAME", "FASTER", "SLOWER", "AMBIGUOUS", "INVALID".
const char* compare_word(CompareKind kind);

/// One exact figure of a point.
struct WorkChange {
  std::string name;
  Measured<std::int64_t> before;  ///< n/a, too, if it is not the same in every process
  Measured<std::int64_t> after;
  int direction = 0;     ///< +1: NEW does more of it in every process, -1: less, 0: no difference that is proven
  bool decides = false;  ///< it differs by enough to decide a verdict: bytes by a tenth of the block
};

struct CompareVerdict {
  CompareKind kind = CompareKind::kInvalid;
  std::string reason;  ///< in words
  std::vector<WorkChange> work;
  TimeVerdict time;
};

/// Judges every point: what is exact exactly, times by their pairs, all together (docs/compare.md).
std::vector<CompareVerdict> judge_points(const std::vector<ComparedPoint>& points, const CompareMethod& method = {});

/// The pairs of all points, as judge_times wants them. Points that cannot be compared have none.
std::vector<TimeSample> time_samples(const std::vector<ComparedPoint>& points);

/// 1 if a point is SLOWER; else 3 if none is SAME or FASTER; else 0.
ExitStatus compare_status(const std::vector<CompareVerdict>& verdicts);

bool any_of_kind(const std::vector<CompareVerdict>& verdicts, CompareKind kind);

}  // namespace zerotax::compare
