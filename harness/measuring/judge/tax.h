#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "judge/judgement.h"
#include "point/typed_point.h"

namespace zerotax {

// This code judges each point once, for sentences, figures and the page. Code that shows judgments applies no
// thresholds of its own.

inline constexpr double kSlowRatio = 10;  ///< smallest ratio of a slow point's time to the fastest time at the same
                                          ///< size
inline constexpr double kSlowNs = 1e5;    ///< smallest time of a slow point, because a ratio of ten does not matter for
                                          ///< a call of 200 ns
inline constexpr double kLeastNs = 1;     ///< resolution of clocks; ratios use this time in place of shorter times
inline constexpr double kLevelRatio = 1.05;  ///< below this ratio, two times are about equal

/// The judgments and metrics of one point. A metric that was not measured has no value.
struct PointTax {
  std::size_t allocator;  ///< index of the point's allocator in Verdicts::allocators
  std::string case_name;
  std::uint64_t size_bytes;
  std::uint64_t page_bytes;  ///< page size of the machine; on a worker, a difference of one page is a header, not
                             ///< another behavior
  double touch;
  std::string thread;
  PointStatus status;
  std::string reason;  ///< reason why the status is not ok

  std::optional<std::vector<RedundantCalls>> calls;  ///< kinds of later calls that write zeros needlessly
  std::optional<std::uint64_t> zeroed_bytes;         ///< bytes that calloc zeroed; lower median
  std::optional<std::uint64_t> redundant_bytes;      ///< redundant part of these bytes; lower median
  YesNo first_redundant;                             ///< whether the first call of the process writes zeros needlessly
  YesNo clears_in_free;                              ///< whether free writes zeros over at least half of the block
  YesNo needless_in_free;                            ///< whether at least half of the block was already zero when free
                                                     ///< cleared it
  bool looked_at_free;                               ///< whether free was examined; false in older runs
  YesNo returns;                                     ///< whether memory is returned to the kernel, and zeroed again at
                                                     ///< its next use
  std::optional<double> calloc_ns;                   ///< median
  std::optional<std::uint64_t> calloc_faults;
  std::vector<double> calloc_ns_modes;  ///< if calls are not alike, the median of each kind, most frequent first
  std::vector<std::string> modes;       ///< the kinds in words, one line each (mode_lines)
  std::optional<double> operation_ns;   ///< time of calloc, touching and free
  std::optional<std::uint64_t> operation_faults;
  std::optional<double> mb_per_s;  ///< rate of a case that receives
  std::optional<double> fork_ns;   ///< time of a case that forks; median
  // Comparison by calloc_ns with all other allocators at the same case, size, touch and thread:
  std::optional<std::size_t> fastest;  ///< index of the fastest allocator; no value if there is no other allocator
  std::optional<double> fastest_ns;
  std::optional<double> ratio;  ///< the point's time divided by that of the fastest allocator
  YesNo slow;

  [[nodiscard]] bool is_ok() const { return status == PointStatus::kOk; }
  /// Whether some or all later calls write zeros needlessly.
  [[nodiscard]] YesNo redundant() const;
};

/// One allocator in one configuration. Unless noted, fields describe calloc_loop with touch 0 on the main thread.
struct AllocatorTax {
  std::string allocator;
  std::string version;  ///< empty if unknown
  std::string preload;  ///< empty if the allocator is linked into the probe
  std::map<std::string, std::string> env;
  std::string label;  ///< a unique label, such as "mimalloc 2.0.9", with the configuration if there is one
  std::string name;   ///< the label without the version, for figures
  std::string build;  ///< suffix of the name, such as " {libmine.so}", if another build has the same name
  SizeRanges redundant;
  SizeRanges redundant_first;
  SizeRanges slow;
  // At any touch:
  SizeRanges cleared_in_free;
  SizeRanges needless_in_free;
  SizeRanges returns;                         ///< at touch 1
  std::vector<std::uint64_t> failed;          ///< sizes whose point has no result
  std::optional<std::size_t> worst;           ///< the point with the largest ratio to the fastest allocator or, without
                                              ///< another allocator, with the longest redundant calls
  std::size_t worker_points = 0;              ///< number of points measured both on the main thread and on a worker
  std::vector<std::uint64_t> worker_differs;  ///< sizes at which the redundant bytes of the two threads differ
};

struct Verdicts {
  std::vector<AllocatorTax> allocators;  ///< in order of appearance
  std::vector<PointTax> points;          ///< in the order of the run
};

Verdicts find_verdicts(const std::vector<Point>& points);

/// Whether an allocator is judged by the point.
bool is_untouched_loop(const PointTax& point);

/// A value of a point, in its own unit; no value if it was not measured.
using PointValue = std::function<std::optional<double>(const PointTax&)>;

/// The points with the smallest and the largest value at one size.
struct Apart {
  const PointTax* least = nullptr;
  const PointTax* most = nullptr;
  double low = 0;
  double high = 0;
  [[nodiscard]] double ratio() const { return high / low; }
};

/// Finds the size at which two of the `meant` points are furthest apart, and returns these two points. Values below
/// `least` count as `least`. Returns no value if no size has two allocators.
std::optional<Apart> furthest_apart(const Verdicts& verdicts, const std::function<bool(const PointTax&)>& meant,
                                    const PointValue& value, double least);

/// Finds the smallest and largest rate, in MB/s, of receiving into untouched buffers: by TLS, or by plain TCP if TLS
/// was not measured.
std::optional<Apart> rates_apart(const Verdicts& verdicts);

}  // namespace zerotax
