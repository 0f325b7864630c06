#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "point/plan.h"

namespace zerotax::snapshot {

struct Threads {
  unsigned writers = 1;
  unsigned checkpointers = 1;
  unsigned passes = 2;  ///< of the writers
};

/// What the program of the case fork_snapshot does in every run.
struct SnapshotParameters : Threads {
  std::uint64_t array_bytes = 0;
  std::uint64_t batch_bytes = 0;
  OrNull<double> hold;                ///< 0 to 1 (cases/fork_snapshot/README.md)
  std::string placement = "default";  ///< on NUMA nodes (cases/fork_snapshot/README.md)
  unsigned sizes = 3;  ///< of memory, in sizes of the array: it, the copies of its pages, and the snapshot
};

/// Threads of a kind, at most.
inline constexpr unsigned kMostThreads = 256;

/// Of the program as it was published, where nothing else is asked for. Its private destination is in memory twice: as
/// the parent's zeros, and as the child's copy.
inline constexpr unsigned kPublishedWriters = 28;
inline constexpr unsigned kPublishedCheckpointers = 4;
inline constexpr unsigned kPublishedPasses = 1;
inline constexpr unsigned kPublishedSizes = 4;

/// Throws UsageError for parameters that make no sense, or that the memory of this machine is too small for.
void check_snapshot(const SnapshotParameters& parameters);

/// A way to take the snapshot.
struct SnapshotAlternative {
  std::string name;
  std::string summary;
  bool planted = false;     ///< wrong on purpose, for tests
  bool on_request = false;  ///< not measured where none is named
  std::string remedy_of{};  ///< the alternative whose faults after the child's end it removes; empty: it is no remedy
  bool published = false;   ///< the published program, or what it is compared with
  std::string baseline = "none";  ///< the alternative without a snapshot whose time it is compared with
};

/// The alternatives of these names, or all that are not planted or measured on request only, "none" first, as the
/// program lists them. Throws UsageError for an unknown name, MachineError if this build lacks the program.
std::vector<SnapshotAlternative> chosen_alternatives(const std::vector<std::string>& names);

/// "none", and each alternative that there are remedies of, followed by these. Throws as chosen_alternatives.
std::vector<std::string> remedy_names();

/// The published program, and what it is compared with.
std::vector<std::string> published_names();

/// All names that are not planted.
std::vector<std::string> alternative_names();

/// All that `zerotax snapshot` runs.
struct SnapshotPlan {
  std::vector<Allocator> allocators;
  std::vector<SnapshotAlternative> alternatives;
  SnapshotParameters parameters;
  SnapshotParameters published;  ///< of alternatives that are published
  unsigned repeat = 3;           ///< timing runs of each
  double timeout_s = 60;

  [[nodiscard]] const SnapshotParameters& parameters_of(const SnapshotAlternative& alternative) const {
    return alternative.published ? published : parameters;
  }
  /// Of memory, in sizes of the array, at most.
  [[nodiscard]] unsigned sizes() const;
};

/// The values of each axis of a sweep.
struct SweepAxes {
  std::vector<unsigned> writers;
  std::vector<unsigned> checkpointers;
  std::vector<std::uint64_t> array_bytes;
  std::vector<std::uint64_t> batch_bytes;
  std::vector<std::string> placement;  ///< on NUMA nodes
};

/// From words "writers=1,4,28", "checkpointers=…", "size=64MiB,1GiB", "batch=…", "placement=same,apart", each axis at
/// most once, or the one word "usual". An axis that is not named has the value of `given`. `nodes`: NUMA nodes of this
/// machine. Throws UsageError, and MachineError for a placement that needs more nodes.
SweepAxes parse_sweep(const std::vector<std::string>& words, const SnapshotParameters& given, std::size_t nodes);

/// One snapshot for each combination of the axes and an alternative: sizes vary slowest, alternatives fastest. `given`
/// has all other parameters.
/// Throws UsageError for what check_snapshot refuses, and for more than a thousand rows. A batch that is larger than
/// the array makes no row, unless there would be none.
std::vector<SnapshotPlan> sweep_rows(const SweepAxes& axes, const SnapshotPlan& given);

}  // namespace zerotax::snapshot
