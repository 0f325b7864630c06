#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "base/measured.h"

namespace zerotax {

/// Load beside a measured process, which takes CPU, cache and memory bandwidth from the process. An idle system has
/// less than a tenth of a runnable process per CPU. At half a process per CPU, half of the CPUs are busy.
enum class LoadLevel : std::uint8_t { kQuiet, kNoisy, kBusy };

/// Returns the level of a load average on `cpus` CPUs. Only this function judges load, for `zerotax doctor`, for
/// comparisons of runs, and for all statements about the load of a measurement.
LoadLevel load_level(double load, std::size_t cpus);

/// Returns the number of CPUs that this process may run on.
std::size_t allowed_cpus();

/// Load values at one moment. Unavailable values are absent.
struct LoadReading {
  std::optional<double> load;          ///< load average of the last minute
  std::int64_t now_ns = 0;             ///< monotonic time
  std::optional<std::int64_t> all_ns;  ///< CPU time of all programs since boot, from /proc/stat
  std::int64_t own_ns = 0;             ///< CPU time of this process and its ended children
};
LoadReading read_load();

/// Returns the number of processes and threads that were started since boot ("processes" in /proc/stat), or nothing if
/// it cannot be read.
std::optional<std::uint64_t> started_tasks();

struct Load {
  RESULT("load", "The machine's load during a measurement.");
  FIELD(std::size_t, cpus, "CPUs that the command could run on.", least(1));
  FIELD(Measured<double>, start, "Load average over a minute when measuring began: mean number of runnable tasks.");
  FIELD(Measured<double>, end,
        "Load average over a minute when measuring ended, which includes the measured programs.");
  FIELD(Measured<double>, others_cpus, "Mean number of CPUs that other programs kept busy during the measurement.");
  FIELD(bool, busy,
        "Whether the load makes times unreliable. The limits are half a runnable task per CPU at the start, and a "
        "quarter of all CPUs used by other programs.");
  FIELD(std::string, sentence, "Description of the load in one sentence.");
};

/// Returns the load between two readings. The machine was busy if other programs used at least a quarter of the CPUs
/// between the readings. The limit is a quarter, not half, because the measured programs may take half of the CPU time
/// that other programs want. If the CPU time of other programs is unknown, the load average at the start decides. That
/// average covers the previous minute, which may include building zerotax. The load average at the end is not used,
/// because it includes the measured programs.
Load load_between(const LoadReading& start, const LoadReading& end, std::size_t cpus = allowed_cpus());

/// Keeps this machine busy while the object exists, by threads that only count. The threads receive no signals.
class BusyCpus {
 public:
  /// By default, starts two threads for each CPU that this process may use.
  explicit BusyCpus(std::size_t threads = 2 * allowed_cpus());

 private:
  std::vector<std::jthread> threads_;
};

}  // namespace zerotax
