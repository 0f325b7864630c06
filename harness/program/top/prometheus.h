#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "top/result.h"

namespace zerotax::top {

/// Sums since zerotax top started, as text for the textfile collector of Prometheus's node_exporter.
class Prometheus {
 public:
  /// `by` chooses the groups that become labels. For By::kProcess, groups are commands, because a label for each PID
  /// would make a series for each PID.
  explicit Prometheus(By by) : by_(by == By::kProcess ? By::kCommand : by) {}

  /// Adds a sample, which must have all its rows and their users' names.
  void add(const Sample& sample);
  /// Returns the text format, version 0.0.4. `now` is in seconds since 1970.
  [[nodiscard]] std::string text(std::int64_t now) const;

 private:
  struct Group {
    std::uint64_t faults = 0;
    std::uint64_t zeroed = 0;
    std::uint64_t refilled = 0;
    std::int64_t cpu_ns = 0;
    std::int64_t fault_ns = 0;
    std::uint64_t resident = 0;  ///< now
  };

  By by_;
  std::map<std::string, Group> groups_;
  Sample last_;
  std::uint64_t samples_ = 0;
  std::uint64_t machine_faults_ = 0;
  std::uint64_t unseen_faults_ = 0;
  std::uint64_t allocated_ = 0;
  std::uint64_t huge_ = 0;
  std::int64_t own_ns_ = 0;
};

}  // namespace zerotax::top
