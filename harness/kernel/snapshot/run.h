#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/fields.h"
#include "observe/fault.h"
#include "observe/frame.h"
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

/// CPU time of the program and of its child: so far, or in an interval that ended then.
struct CpuInterval {
  std::int64_t end_ns = 0;  ///< CLOCK_MONOTONIC, or since the first sample
  std::int64_t user_ns = 0;
  std::int64_t system_ns = 0;
  std::int64_t child_user_ns = 0;
  std::int64_t child_system_ns = 0;
};

/// How a run ended. The last one is in no document.
enum class Status {
  kOk,
  kWrong,  ///< an element of the snapshot did not have its value at that instant
  kFailed,
  kCrashed,
  kTimeout,
  kSkipped,     ///< it cannot be done here, or was not run
  kNotWatched,  ///< this machine does not permit the pass
};

/// "ok", "wrong", ... in documents and tables, and the other way round. Throws std::invalid_argument for another word.
const char* status_name(Status status);
Status status_of(const std::string& word);

/// The result of one run. With a status other than kOk the rest is empty.
struct SnapshotRun {
  Status status = Status::kSkipped;
  std::string reason;
  std::map<std::string, std::int64_t> figures;  ///< as the program names them
  std::vector<SnapshotFault> faults;            ///< kFaults
  bool every_fault = false;                     ///< as FaultData
  std::uint64_t lost = 0;                       ///< events, or samples
  std::vector<SnapshotSample> samples;          ///< kProfile
  std::vector<CpuInterval> cpu_time;            ///< kCpuTime: so far
  unsigned hz = 0;
  bool sees_kernel = false;

  [[nodiscard]] bool ok() const { return status == Status::kOk; }
  [[nodiscard]] std::int64_t figure(const std::string& name) const;
  [[nodiscard]] bool has(const std::string& name) const { return figures.contains(name); }
};

/// Runs the program once. Its status and reason say what went wrong. `library` is preloaded unless it is empty; `stop`
/// as in run_child. Throws MachineError if the pass cannot be carried out here at all.
SnapshotRun run_snapshot(const Allocator& allocator, const std::string& library, const std::string& alternative,
                         const SnapshotParameters& parameters, SnapshotPass pass, std::chrono::milliseconds timeout,
                         const std::function<bool()>& stop);

}  // namespace zerotax::snapshot
