#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "point/typed_point.h"
#include "run/experiment.h"

namespace zerotax::fleet {

/// Work whose items are independent of each other: the points of a plan, the lanes of a search. Any host can do any of
/// them, and each hands over its result as JSON.
class Work {
 public:
  virtual ~Work() = default;
  Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  /// For progress: "measuring".
  [[nodiscard]] virtual std::string title() const = 0;
  /// All of them, in the order of a run on one host, with keys, groups and results.
  [[nodiscard]] virtual std::vector<Item> items() const = 0;
  /// Whether times are taken: then nothing else may run on the host.
  [[nodiscard]] virtual bool is_timed() const = 0;
  /// Memory that an item needs at most, in bytes.
  [[nodiscard]] virtual std::uint64_t memory_bytes() const = 0;
  /// CPUs that an item uses at a time, where no times are taken.
  [[nodiscard]] virtual unsigned cpus() const { return 1; }
  /// A few points, each with its deterministic metrics: measured once on every host, so that hosts that behave
  /// differently are found. Empty if the work has none. Throws Stop.
  [[nodiscard]] virtual std::vector<Point> controls() const { return {}; }
};

/// `host`: where it was done; empty: here.
using OnResult = std::function<void(const std::string& key, const Json& result, const std::string& host)>;

/// Where the items of a work are done.
class Executor {
 public:
  virtual ~Executor() = default;
  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Does the missing items, with progress, and hands over each result once, from one thread at a time. Returns false
  /// if a signal ended it early.
  [[nodiscard]] virtual bool run(const Work& work, const std::set<std::string>& missing, const OnResult& on_result) = 0;
};

/// This host: results are handed over as soon as they are there.
class ThisHost : public Executor {
 public:
  /// `side_by_side`: audits at a time, at most; 0: as many as this host has CPUs.
  explicit ThisHost(std::size_t side_by_side = 0) : side_by_side_(side_by_side) {}
  bool run(const Work& work, const std::set<std::string>& missing, const OnResult& on_result) override;

 private:
  std::size_t side_by_side_;
};

/// Recreates a work in a task, from its description in fleet.json. `file`: for messages. Throws UsageError.
using WorkMaker = std::unique_ptr<Work> (*)(const Json& description, const std::string& file);

/// A kind of work, known to tasks by its name: one static object in the room that has it.
class WorkKind {
 public:
  WorkKind(const char* name, WorkMaker maker);
};

}  // namespace zerotax::fleet
