#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "base/statistics.h"
#include "observe/fault.h"
#include "observe/kernel_symbols.h"
#include "snapshot/run.h"

namespace zerotax::snapshot {

// The fields below are the keys of results/schema/snapshot.schema.json, which describes them. Fields that earlier
// versions did not write are optional or Measured.

/// Why there is nothing of a run that was not made.
inline constexpr const char* kNotRun = "interrupted before it was run";
/// Why a row of a sweep has no figures if the sweep was interrupted before or during that row.
inline constexpr const char* kNotFinished = "interrupted before it was finished";

struct Counts : ClassCounts {};

/// Median, 5th and 95th percentile over runs.
struct Quantiles : Spread {};

struct Memory {
  std::int64_t before_bytes = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t samples = 0;
  /// What was needed beyond what was there before the snapshot.
  [[nodiscard]] std::uint64_t added_bytes() const { return static_cast<std::uint64_t>(peak_bytes - before_bytes); }
};

struct Destination {
  std::uint64_t pages = 0;
  Counts parent;
  Counts child;
};

struct Timeline {
  std::uint64_t bin_ns = 0;
  std::vector<Counts> bins;
};

enum class FaultMethod { kTracepoints, kSoftware };

struct Faults {
  FaultMethod method = FaultMethod::kTracepoints;
  std::uint64_t lost = 0;
  Counts before_end;
  Counts after_end;
  Counts elsewhere;
  Counts child;
  Measured<Counts> helper;
  Measured<Destination> destination;
  std::uint64_t traced = 0;
  std::int64_t counted = 0;
  std::uint64_t pages = 0;
  Measured<std::int64_t> exclusive_pages;
  double end_s = 0;
  Timeline timeline;
};

/// Nanoseconds of kernel time for each kind of kernel work.
struct Sections : std::array<std::uint64_t, kKernelWorks> {};

struct CpuPart {
  std::uint64_t samples = 0;
  std::uint64_t user_ns = 0;
  Measured<std::uint64_t> kernel_ns;
  Measured<Sections> sections_ns;
};

struct Cpu {
  unsigned hz = 0;
  std::uint64_t lost = 0;
  CpuPart before_end;
  CpuPart after_end;
  Measured<CpuPart> child;
};

struct CpuTime {
  std::int64_t writers_begin_ns = 0;
  std::int64_t writers_end_ns = 0;
  std::int64_t snapshot_ns = 0;
  Measured<std::int64_t> child_end_ns;
  std::vector<CpuInterval> intervals;
};

struct Child {
  Quantiles user_ns{};
  Quantiles system_ns{};
  std::uint64_t batches = 0;
  Measured<std::uint64_t> unmapped_batches;
  OrNull<std::string> unmap_error;
};

struct HelperFigures {
  Quantiles wall_ns{};
  Quantiles user_ns{};
  Quantiles system_ns{};
  Quantiles faults{};
  Quantiles failed_bytes{};
};

struct AfterEnd {
  std::uint64_t runs = 0;
  Quantiles writers_user_ns{};
  Quantiles writers_system_ns{};
  Quantiles writers_faults{};
  Measured<HelperFigures> helper;
};

/// Shares of the pages that lie on the first and on the second NUMA node.
struct NodeShares {
  double first = 0;
  double second = 0;
};

struct Placed {
  Measured<NodeShares> array;
  Measured<NodeShares> destination;
};

/// The figures of a result; each is n/a if the result's status is not ok.
struct Figures {
  Measured<bool> has_child;
  Measured<Quantiles> writers_wall_ns;
  Measured<double> slowdown;
  Measured<Quantiles> writers_user_ns;
  Measured<Quantiles> writers_system_ns;
  Measured<Quantiles> stopped_ns;
  Measured<Quantiles> snapshot_ns;
  Measured<std::int64_t> checked_elements;
  Measured<Child> child;
  Measured<AfterEnd> after_end;
  Measured<Memory> memory;
  Measured<Faults> faults;
  Measured<Faults> faults_held;
  Measured<Cpu> cpu;
  Measured<Cpu> cpu_held;
  Measured<CpuTime> cpu_time;
  // Only rows of a sweep show these figures.
  Measured<Quantiles> child_end_ns;
  Measured<std::uint64_t> copy_done_first_runs;
  Measured<Placed> placed;
};

Figures no_figures(const std::string& why);

/// What the figure shows of a result: the verdict's.
struct Mark {
  double slowdown = 0;
  Measured<double> memory_share;
  double stopped_ns = 0;
  bool operator==(const Mark&) const = default;
};

template <typename T>
struct WithAndWithout {
  T without{};
  T with{};
  bool operator==(const WithAndWithout&) const = default;
};

enum class Effect { kRemoves, kReduces, kNone };

/// What a remedy moves and saves: the verdict's.
struct Remedy {
  std::string of;
  WithAndWithout<double> faults;
  WithAndWithout<double> writers_system_ns;
  Measured<WithAndWithout<std::uint64_t>> reuse_faults;
  WithAndWithout<double> writers_cpu_ns;
  double helper_cpu_ns = 0;
  double saved_ns = 0;
  Effect effect = Effect::kNone;
  std::string sentence;
};

struct Result : Figures {
  Measured<std::string> version;
  OrNull<std::string> preload;
  std::map<std::string, std::string> env;
  std::string allocator;
  std::string alternative;
  Status status = Status::kSkipped;
  OrNull<std::string> reason;
  std::optional<Threads> parameters;
  std::optional<std::string> baseline;
  std::uint64_t runs = 0;
  Measured<Mark> mark;
  Measured<Remedy> remedy;

  [[nodiscard]] bool ok() const { return status == Status::kOk; }
  /// Whether a snapshot was taken, checked, and timed.
  [[nodiscard]] bool took_snapshot() const { return ok() && checked_elements && writers_wall_ns && stopped_ns; }
  /// The alternative that it is compared with; earlier versions knew one.
  [[nodiscard]] std::string compared_with() const { return baseline.value_or("none"); }
  /// Of the published program, or what that is compared with.
  [[nodiscard]] bool published() const { return compared_with() != "none"; }
};

struct Parameters : SnapshotParameters {
  unsigned repeat = 1;
};

struct AlternativeFacts {
  std::string name;
  std::string summary;
  OrNull<std::string> remedy_of;
  std::optional<bool> published;
};

struct NextCommand {
  std::string command;
  std::string measures;
};

struct Advice {
  std::string allocator;
  Measured<std::string> instead_of;
  Measured<std::string> least_time;
  Measured<std::string> shortest_stop;
  Measured<std::string> least_memory;
  Measured<std::string> least_time_with_child;
  Measured<std::string> no_faults_after_end;
  std::vector<NextCommand> next;
};

/// Beside the mark and the remedy of each result.
struct Verdict {
  std::vector<Advice> advice;
  Measured<std::string> sentence;     ///< how much longer the writers need, at the least and at the most
  OrNull<std::string> contradiction;  ///< runs of the same that took very different times
  OrNull<std::string> loss;           ///< whose faults are not all there
  std::vector<std::string> notes;     ///< what one has to know to read the figure
};

struct Snapshot : Verdict, DocumentHead {
  std::string state;
  Parameters parameters;
  std::vector<AlternativeFacts> alternatives;
  std::vector<Result> results;

  /// The alternative that a result's alternative is a remedy of; empty if it is not a remedy.
  [[nodiscard]] std::string remedied_by(const Result& result) const;
  /// Null if that was not measured.
  [[nodiscard]] const Result* find(const std::string& allocator, const std::string& alternative) const;
  /// Names, each once, in the order of the results.
  [[nodiscard]] std::vector<std::string> allocators() const;
};

// The fields below are the keys of results/schema/snapshot_sweep.schema.json, which describes them.

enum class IsItCopying { kNo, kUntilEnd, kAfterEnd };
enum class DoneFirst { kAlways, kSometimes, kNever };

struct SweepVerdict {
  Measured<IsItCopying> is_it_copying;
  Measured<DoneFirst> copy_done_first;
  std::string sentence;
};

struct SweptRow : Result {
  SnapshotParameters at;
  Measured<SweepVerdict> verdict{};
};

struct SweptAxes : SweepAxes {
  Measured<std::vector<std::string>> placement;
};

struct Sweep : DocumentHead {
  std::string state;
  Json allocator;
  unsigned repeat = 1;
  SweptAxes axes;
  std::vector<SweptRow> rows;
  OrNull<std::string> loss;        ///< the rows whose faults are not all there: the verdict's
  Measured<std::string> sentence;  ///< the verdict's
};

/// One run of a plan.
struct SnapshotStep {
  std::size_t allocator;
  std::size_t alternative;
  SnapshotPass pass;
  bool held;  ///< the writers were held until the child had ended
};

/// Takes the runs of `zerotax snapshot`: one result for each allocator and alternative.
class SnapshotRuns {
 public:
  explicit SnapshotRuns(const SnapshotPlan& plan);

  /// Returns whether to continue with this allocator and alternative. After a failed run, no further runs are needed.
  bool take(const SnapshotStep& step, const SnapshotRun& run);

  /// All but the verdict and the environment.
  [[nodiscard]] Snapshot result(bool complete) const;
  [[nodiscard]] Result result_of(std::size_t allocator, std::size_t alternative) const;

 private:
  struct Taken {
    std::optional<Status> status;  ///< empty: nothing was run
    std::string reason;
    std::vector<SnapshotRun> timing;       ///< without faults and samples
    std::vector<SnapshotRun> held_timing;  ///< and the writers held until the child had ended
    Figures figures;                       ///< of the other passes
    std::int64_t checked_elements = 0;
    bool takes_snapshot = false;
    bool has_child = false;
  };

  [[nodiscard]] const Taken& at(std::size_t allocator, std::size_t alternative) const {
    return taken_[allocator * plan_.alternatives.size() + alternative];
  }
  [[nodiscard]] Measured<double> slowdown(std::size_t allocator, std::size_t alternative) const;
  [[nodiscard]] Figures figures(std::size_t allocator, std::size_t alternative) const;

  SnapshotPlan plan_;
  std::vector<Taken> taken_;
};

/// Carries out a plan, one run at a time, alternatives interleaved: first the timing runs, then one run of each other
/// pass. An alternative with a child also has timing runs that are held, and its passes for faults and for samples run
/// twice, the second time held. A pass that this machine does not permit gets the status kNotWatched. The result lacks
/// its verdict and environment.
Snapshot run_snapshots(const SnapshotPlan& plan);

/// Takes the snapshots of one row after the other: the timing runs, a run for CPU time over time, and a run for faults.
/// A signal ends the sweep, and discards the runs of the row that is not finished. The result lacks its verdict and
/// environment.
Sweep run_sweep(const SweepAxes& axes, const std::vector<SnapshotPlan>& rows);

/// The faults of a run, from the instant of the snapshot to the writers' end: the parent's on the array before and
/// after the child's end (or that of the copying threads), over time, elsewhere, and the child's; beside the kernel's
/// own count. n/a if an ordinary user cannot see enough of them.
Measured<Faults> faults_of(const SnapshotRun& run);

/// The parent's time from the instant of the snapshot to the writers' end, before and after the child's end: user mode,
/// and the kernel by sections; and the child's in that time.
Measured<Cpu> cpu_of(const SnapshotRun& run);

/// The CPU time of the program and of its child in each interval between two samples of a run, as a monitor such as
/// htop shows it.
Measured<CpuTime> cpu_time_of(const SnapshotRun& run);

/// Adds what is said of it, or replaces it: of each result its mark and remedy, and the verdict on all.
void add_verdict(Snapshot& snapshot);

/// What a remedy moves and saves; n/a for a result of no remedy, or where it or the alternative that it remedies was
/// not measured.
Measured<Remedy> remedy_of(const Snapshot& snapshot, const Result& result);

/// What to do instead of the alternative that one has, of each allocator. Nothing is recommended but what was measured
/// and found better; otherwise `next` names commands that measure more.
std::vector<Advice> advice_of(const Snapshot& snapshot);

/// The warning about counts of faults that are too low; `lost`: whose, with what was lost. Null if nothing was.
OrNull<std::string> loss_text(const std::vector<std::string>& lost);

/// The verdict on a row: is the kernel copying, and is the copy done before the writers are?
Measured<SweepVerdict> sweep_verdict(const SweptRow& row);

/// A row's alternative, sizes, threads and placement, in words.
std::string sweep_title(const SweptRow& row);

/// Adds, or replaces, the verdict of each row, and that on all.
void add_sweep_verdict(Sweep& sweep);

}  // namespace zerotax::snapshot
