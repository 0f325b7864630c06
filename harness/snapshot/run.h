#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/allocators.h"
#include "observe/fault.h"
#include "observe/frame.h"

namespace zerotax::snapshot {

/// What the program of the case fork_snapshot does in every run.
struct SnapshotParameters {
  std::uint64_t array_bytes = 0;
  std::uint64_t batch_bytes = 0;
  unsigned writers = 1;
  unsigned checkpointers = 1;
  unsigned passes = 2;
  double hold = -1;                   ///< 0 to 1; negative: none (cases/fork_snapshot/README.md)
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

/// What one run measures.
enum class SnapshotPass {
  kTiming,   ///< nothing but clocks
  kMemory,   ///< what memory is used
  kFaults,   ///< each fault by its class
  kProfile,  ///< samples of the CPU
  kCpuTime,  ///< CPU time over time
};

/// A fault of the run.
struct SnapshotFault {
  std::uint64_t time_ns;  ///< CLOCK_MONOTONIC
  std::uint64_t address;
  pid_t pid;
  FaultClass kind;
  pid_t tid = 0;
};

/// A sample of the run.
struct SnapshotSample {
  std::uint64_t time_ns;  ///< CLOCK_MONOTONIC
  pid_t pid;
  Stack stack;
};

/// CPU time that the program has used so far, in nanoseconds.
struct SnapshotCpuTime {
  std::int64_t at_ns = 0;  ///< CLOCK_MONOTONIC
  std::int64_t user_ns = 0;
  std::int64_t system_ns = 0;
  std::int64_t child_user_ns = 0;
  std::int64_t child_system_ns = 0;
};

/// The result of one run. With a status other than "ok" the rest is empty.
struct SnapshotRun {
  std::string status;  ///< "ok", "wrong", "failed", "crashed", "timeout", "skipped"
  std::string reason;
  std::map<std::string, std::int64_t> figures;  ///< as the program names them
  std::vector<SnapshotFault> faults;            ///< kFaults
  bool every_fault = false;                     ///< as FaultData
  std::uint64_t lost = 0;                       ///< events, or samples
  std::vector<SnapshotSample> samples;          ///< kProfile
  std::vector<SnapshotCpuTime> cpu_time;        ///< kCpuTime
  unsigned hz = 0;
  bool sees_kernel = false;

  [[nodiscard]] bool ok() const { return status == "ok"; }
  [[nodiscard]] std::int64_t figure(const std::string& name) const;
  [[nodiscard]] bool has(const std::string& name) const { return figures.contains(name); }
};

/// Runs the program once. What goes wrong is its status and reason. `library` is preloaded unless it is empty; `stop`
/// as in run_child. Throws MachineError if the pass cannot be carried out here at all.
SnapshotRun run_snapshot(const Allocator& allocator, const std::string& library, const std::string& alternative,
                         const SnapshotParameters& parameters, SnapshotPass pass, std::chrono::milliseconds timeout,
                         const std::function<bool()>& stop);

}  // namespace zerotax::snapshot
