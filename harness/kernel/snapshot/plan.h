#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "point/plan.h"

namespace zerotax::snapshot {

struct Threads {
  RESULT("threads", "Numbers of threads and of passes of a run.");
  MEMBER(writers, "Number of threads that write to the array.", least(1));
  unsigned writers = 1;
  MEMBER(checkpointers, "Number of threads that copy the array.", least(1));
  unsigned checkpointers = 1;
  MEMBER(passes, "Number of times that the writers write the whole array.", least(1));
  unsigned passes = 2;
};

/// The parameters of a run of the case fork_snapshot.
struct SnapshotParameters : Threads {
  RESULT("sizes and threads");
  FIELD(std::uint64_t, array_bytes, "Size of the array, in bytes.", least(4096));
  FIELD(std::uint64_t, batch_bytes, "Bytes that are copied at a time, and then unmapped or released.", least(4096));
  BASE_FIELDS(Threads);
  OrNull<double> hold;                ///< share from 0 to 1 (cases/fork_snapshot/README.md)
  std::string placement = "default";  ///< placement on the NUMA nodes (cases/fork_snapshot/README.md)
  unsigned sizes = 3;  ///< memory needed, as a multiple of the array's size: the array, the copies of its pages, and
                       ///< the snapshot
};

/// Largest number of threads of each kind.
inline constexpr unsigned kMostThreads = 256;

/// Defaults of the published program. The program's private destination is in memory twice: as the parent's zeros, and
/// as the child's copy.
inline constexpr unsigned kPublishedWriters = 28;
inline constexpr unsigned kPublishedCheckpointers = 4;
inline constexpr unsigned kPublishedPasses = 1;
inline constexpr unsigned kPublishedSizes = 4;

/// Throws UsageError if parameters are invalid, or if this machine has too little memory for them.
void check_snapshot(const SnapshotParameters& parameters);

/// An alternative as the program lists it.
struct SnapshotAlternative {
  std::string name;
  std::string summary;
  bool planted = false;     ///< wrong on purpose, for tests
  bool on_request = false;  ///< measured only if it is named
  std::string remedy_of{};  ///< the alternative whose faults after the child's end this remedy removes; empty if this
                            ///< is not a remedy
  bool published = false;   ///< whether this is the published program, or an alternative that the program is compared
                            ///< with
  std::string baseline = "none";  ///< the alternative without a snapshot that is the baseline for this alternative's
                                  ///< time
};

/// Returns the alternatives of these names. Without names, returns all alternatives except those that are planted or
/// measured only on request. "none" comes first; the other alternatives have the order of the program's list. Throws
/// UsageError for an unknown name, and MachineError if this build lacks the program.
std::vector<SnapshotAlternative> chosen_alternatives(const std::vector<std::string>& names);

/// Returns "none", and each alternative that has remedies, followed by its remedies. Throws the errors of
/// chosen_alternatives.
std::vector<std::string> remedy_names();

/// Returns the published program, and the alternatives that it is compared with.
std::vector<std::string> published_names();

/// Returns all names that are not planted.
std::vector<std::string> alternative_names();

/// The complete work of `zerotax snapshot`.
struct SnapshotPlan {
  std::vector<Allocator> allocators;
  std::vector<SnapshotAlternative> alternatives;
  SnapshotParameters parameters;
  SnapshotParameters published;  ///< parameters of published alternatives
  unsigned repeat = 3;           ///< number of timing runs of each alternative
  double timeout_s = 60;

  [[nodiscard]] const SnapshotParameters& parameters_of(const SnapshotAlternative& alternative) const {
    return alternative.published ? published : parameters;
  }
  /// The most memory that an alternative needs, as a multiple of the array's size.
  [[nodiscard]] unsigned sizes() const;
};

/// The values of each axis of a sweep.
struct SweepAxes {
  std::vector<unsigned> writers;
  std::vector<unsigned> checkpointers;
  std::vector<std::uint64_t> array_bytes;
  std::vector<std::uint64_t> batch_bytes;
  std::vector<std::string> placement;  ///< placement on the NUMA nodes
};

/// Reads the axes from words such as "writers=1,4,28", "checkpointers=…", "size=64MiB,1GiB", "batch=…" and
/// "placement=same,apart", or from the single word "usual". Each axis may occur once; an axis that is not named has the
/// value of `given`.
/// `nodes` is the number of NUMA nodes of this machine. Throws UsageError for invalid words, and MachineError for a
/// placement that needs more nodes.
SweepAxes parse_sweep(const std::vector<std::string>& words, const SnapshotParameters& given, std::size_t nodes);

/// Returns one plan for each combination of the axes and an alternative. Sizes vary slowest, alternatives fastest.
/// `given` has all other parameters. A batch that is larger than the array makes no row, unless there would be no rows
/// at all.
/// Throws UsageError for parameters that check_snapshot refuses, and for more than a thousand rows.
std::vector<SnapshotPlan> sweep_rows(const SweepAxes& axes, const SnapshotPlan& given);

}  // namespace zerotax::snapshot
