#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"
#include "base/measured.h"

namespace zerotax {

/// What runs beside a measured process takes CPU, cache and memory bandwidth from it; on this many CPUs less than a
/// tenth of one each is what an idle system does, and half of one is a neighbour that every other process meets.
enum class LoadLevel : std::uint8_t { kQuiet, kNoisy, kBusy };

/// The level of so many runnable processes on so many CPUs. This is where load is judged: `zerotax doctor`, comparisons
/// of runs, and everything that says under which load it was measured.
LoadLevel load_level(double load, std::size_t cpus);

/// CPUs that this process may run on.
std::size_t allowed_cpus();

/// What was read at one moment. Nothing for what the kernel does not say.
struct LoadReading {
  std::optional<double> load;          ///< of the last minute
  std::int64_t now_ns = 0;             ///< monotonic
  std::optional<std::int64_t> all_ns;  ///< CPU time of all programs so far, from /proc/stat
  std::int64_t own_ns = 0;             ///< of this process and its children that ended
};
LoadReading read_load();

/// Under which load something was measured. The fields are the keys of "load" in results/schema/run.schema.json.
struct Load {
  std::size_t cpus = 0;
  Measured<double> start;        ///< load average
  Measured<double> end;          ///< load average
  Measured<double> others_cpus;  ///< CPUs that other programs kept busy meanwhile, on average
  bool busy = false;
  std::string sentence;
};

/// The load between two readings. Busy is what others did meanwhile: a quarter of the CPUs, half of what they could get
/// beside as many measurements. Only where that is not known, it is a load average at the start that is: this one tells
/// of the minute before, in which we may have been built ourselves, and the one at the end counts what was measured,
/// too.
Load load_between(const LoadReading& start, const LoadReading& end, std::size_t cpus = allowed_cpus());

void to_json(Json& json, const Load& load);
void from_json(const Json& json, Load& load);

/// Keeps this machine busy while the object exists, by threads that only count. The threads take no signals.
class BusyCpus {
 public:
  /// By default, two threads for each CPU that this process may use.
  explicit BusyCpus(std::size_t threads = 2 * allowed_cpus());

 private:
  std::vector<std::jthread> threads_;
};

}  // namespace zerotax
