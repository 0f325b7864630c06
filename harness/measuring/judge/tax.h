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

// The code here judges points, once, for sentences, figures and the page. Code that shows judgements compares
// nothing with a limit of its own.

inline constexpr double kSlowRatio = 10;  ///< slow: so many times the fastest at the same size, and
inline constexpr double kSlowNs = 1e5;    ///< so many nanoseconds: a system call more makes 200 ns ten times as slow,
                                          ///< and nobody notices
inline constexpr double kLeastNs = 1;     ///< what clocks resolve: times below it count as this in ratios
inline constexpr double kLevelRatio = 1.05;  ///< below it, one takes about as much as the other

/// What is to be said of one point. Nothing of what was not measured.
struct PointTax {
  std::size_t allocator;  ///< its place in Verdicts::allocators
  std::string case_name;
  std::uint64_t size_bytes;
  std::uint64_t page_bytes;  ///< of the machine; on a worker, a page more or less is a header, not another behaviour
  double touch;
  std::string thread;
  PointStatus status;
  std::string reason;  ///< why the status is not ok

  std::optional<std::vector<RedundantCalls>> calls;  ///< kinds of later calls that write zeros needlessly
  std::optional<std::uint64_t> zeroed_bytes;         ///< by calloc; lower median
  std::optional<std::uint64_t> redundant_bytes;      ///< lower median
  Answer first_redundant;                            ///< the same of the first call of the process
  Answer clears_in_free;                             ///< free writes zeros over at least half of the block
  Answer needless_in_free;                           ///< at least half of the block was zero then
  bool looked_at_free;                               ///< older runs did not
  Answer returns;                                    ///< memory goes back to the kernel and comes again, zeroed again
  std::optional<double> calloc_ns;                   ///< median
  std::optional<std::uint64_t> calloc_faults;
  std::vector<double> calloc_ns_modes;  ///< where calls are not alike: of each kind, most frequent first
  std::vector<std::string> modes;       ///< the same in words, a line for each kind: mode_lines
  std::optional<double> operation_ns;   ///< calloc, touching and free
  std::optional<std::uint64_t> operation_faults;
  std::optional<double> mb_per_s;  ///< of a case that receives
  std::optional<double> fork_ns;   ///< of a case that forks; median
  // Against all others at the same case, size, touch and thread, by calloc_ns:
  std::optional<std::size_t> fastest;  ///< which allocator; nothing if there is no other
  std::optional<double> fastest_ns;
  std::optional<double> ratio;  ///< to the fastest
  Answer slow;

  [[nodiscard]] bool is_ok() const { return status == PointStatus::kOk; }
  /// Whether later calls, or some of them, write zeros needlessly.
  [[nodiscard]] Answer redundant() const;
};

/// One allocator in one configuration: calloc_loop with touch 0 on the main thread, where nothing else is said.
struct AllocatorTax {
  std::string allocator;
  std::string version;  ///< empty: not known
  std::string preload;  ///< empty: linked into the probe
  std::map<std::string, std::string> env;
  std::string label;  ///< "mimalloc 2.0.9", with its configuration if it has one; no other has the same
  std::string name;   ///< the same without the version, as figures call it
  std::string build;  ///< " {libmine.so}", behind the name, where another build has the same name
  SizeRanges redundant;
  SizeRanges redundant_first;
  SizeRanges slow;
  // With whatever the program wrote to its block:
  SizeRanges cleared_in_free;
  SizeRanges needless_in_free;
  SizeRanges returns;                 ///< with every page written
  std::vector<std::uint64_t> failed;  ///< sizes whose point came to no result
  std::optional<std::size_t> worst;   ///< the point with the largest ratio to the fastest, or, where there is no
                                      ///< other allocator, of the longest calls that write zeros needlessly
  std::size_t worker_points = 0;      ///< points measured on the main thread and on a worker
  std::vector<std::uint64_t> worker_differs;  ///< sizes at which the redundant bytes of the two differ
};

struct Verdicts {
  std::vector<AllocatorTax> allocators;  ///< in order of appearance
  std::vector<PointTax> points;          ///< in the order of the run
};

Verdicts find_verdicts(const std::vector<Point>& points);

/// Whether a point is of those that an allocator is judged by.
bool is_untouched_loop(const PointTax& point);

/// A value of a point, in its own unit; nothing if it was not measured.
using PointValue = std::function<std::optional<double>(const PointTax&)>;

/// The points with the least and the most of a value at one size.
struct Apart {
  const PointTax* least = nullptr;
  const PointTax* most = nullptr;
  double low = 0;
  double high = 0;
  [[nodiscard]] double ratio() const { return high / low; }
};

/// The extremes at the size where two allocators are furthest apart, among the points that are `meant`. Values below
/// `least` count as `least`. Nothing if no size has two allocators.
std::optional<Apart> furthest_apart(const Verdicts& verdicts, const std::function<bool(const PointTax&)>& meant,
                                    const PointValue& value, double least);

/// The rates, in MB/s, of receiving into untouched buffers: by TLS, or by plain TCP if TLS was not measured.
std::optional<Apart> rates_apart(const Verdicts& verdicts);

}  // namespace zerotax
