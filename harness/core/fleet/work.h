#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"

namespace zerotax::fleet {

/// One part of a piece of work, which can be done on any host.
struct WorkItem {
  std::string key;    ///< unique within the work
  std::string group;  ///< items of one group are compared with each other, and stay on one host
  double seconds;     ///< expected; only ratios matter
};

/// How the items are done here.
struct WorkHooks {
  /// Called with each result as soon as it is there, from one thread at a time.
  std::function<void(const std::string& key, const Json& result)> on_result;
  std::size_t side_by_side = 0;  ///< processes at a time, at most; 0: as many as this host has CPUs
};

/// Work whose items are independent of each other: the points of a plan, the lanes of a search. The same object does it
/// here and says how it is divided among hosts.
class Work {
 public:
  virtual ~Work() = default;
  Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  /// All of them, in the order of a run on one host.
  [[nodiscard]] virtual std::vector<WorkItem> items() const = 0;
  /// Whether times are taken: then nothing else may run on the host.
  [[nodiscard]] virtual bool is_timed() const = 0;
  /// Memory that an item needs at most, in bytes.
  [[nodiscard]] virtual std::uint64_t memory_bytes() const = 0;
  /// CPUs that an item uses at a time, where no times are taken.
  [[nodiscard]] virtual unsigned cpus() const { return 1; }
  /// Does the items of these keys, with progress. Returns the number of the signal that ended it early, or 0.
  virtual int run(const std::set<std::string>& keys, const WorkHooks& hooks) = 0;
  /// A few points, each with its deterministic metrics: measured once on every host, so that hosts that behave
  /// differently are found. Empty if the work has none.
  [[nodiscard]] virtual std::vector<Json> controls() { return {}; }
};

/// Makes a work anew in a task, from what its fleet.json says of it. `file`: for messages. Throws UsageError.
using WorkMaker = std::unique_ptr<Work> (*)(const Json& description, const std::string& file);

/// A kind of work, known to tasks by its name: one static object in the room that has it.
class WorkKind {
 public:
  WorkKind(const char* name, WorkMaker maker);
};

}  // namespace zerotax::fleet
