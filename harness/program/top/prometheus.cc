#include "top/prometheus.h"

#include <fmt/format.h>

#include <iterator>

#include "base/printable.h"
#include "top/view.h"

namespace zerotax::top {
namespace {

/// Maximum number of groups with a time series of their own. All further groups share one series, to limit the load on
/// the server.
constexpr std::size_t kMostGroups = 500;
constexpr const char* kOthers = "(others)";

/// Escapes backslashes and quotation marks, as the text format requires for labels.
std::string label(const std::string& value) {
  std::string text;
  for (const char each : value) {
    if (each == '\\' || each == '"') text += '\\';
    text += each;
  }
  return text;
}

class Text {
 public:
  void metric(const char* name, const char* type, const char* help) {
    name_ = name;
    fmt::format_to(std::back_inserter(text_), "# HELP zerotax_{0} {1}\n# TYPE zerotax_{0} {2}\n", name, help, type);
  }
  template <typename Value>
  void value(const Value& value, const std::string& labels = "") {
    fmt::format_to(std::back_inserter(text_), "zerotax_{}{} {}\n", name_, labels, value);
  }
  template <typename Value>
  void only(const char* name, const char* type, const char* help, const Value& value_of_it) {
    metric(name, type, help);
    value(value_of_it);
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  const char* name_ = "";
  std::string text_;
};

double seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace

void Prometheus::add(const Sample& sample) {
  for (auto& [name, group] : groups_) group.resident = 0;
  for (const Usage& row : sample.rows) {
    // Names that look the same when printed form one group. The server refuses the whole file if it has a bad label or
    // the same label twice.
    std::string name = printable(group_name(row, by_));
    if (!groups_.contains(name) && groups_.size() >= kMostGroups) name = kOthers;
    Group& group = groups_[name];
    group.faults += row.all_faults();
    group.zeroed += row.zeroed_at_most_bytes;
    group.refilled += row.refilled_at_most_bytes.value_or(0);
    group.cpu_ns += row.cpu_ns;
    group.fault_ns += row.fault_cpu_estimated_ns.value_or(0);
    group.resident += row.resident_bytes;
  }
  machine_faults_ += sample.machine.faults.value_or(0);
  unseen_faults_ += sample.machine.unseen_faults.value_or(0);
  allocated_ += sample.machine.allocated_bytes.value_or(0);
  huge_ += sample.machine.huge_zeroed_bytes.value_or(0);
  own_ns_ += sample.own.cpu_ns;
  ++samples_;
  last_ = sample;
  last_.rows.clear();
}

std::string Prometheus::text(std::int64_t now) const {
  Text text;
  const std::string key = word(by_);
  const auto each = [&](const char* name, const char* type, const char* help, const auto& value_of) {
    text.metric(name, type, help);
    for (const auto& [group, sums] : groups_) {
      text.value(value_of(sums), fmt::format("{{{}=\"{}\"}}", key, label(group)));
    }
  };
  each("minor_faults_total", "counter", "Minor page faults of processes, and of their ended children.",
       [](const Group& group) { return group.faults; });
  each("zeroed_at_most_bytes_total", "counter", "Upper bound of the bytes that the kernel zeroed for these processes.",
       [](const Group& group) { return group.zeroed; });
  each("refilled_at_most_bytes_total", "counter",
       "Upper bound of refilled bytes: zeroed bytes beyond the growth of memory.",
       [](const Group& group) { return group.refilled; });
  each("cpu_seconds_total", "counter", "CPU time of processes, and of their ended children.",
       [](const Group& group) { return seconds(group.cpu_ns); });
  each("fault_cpu_estimated_seconds_total", "counter", "Estimated CPU time in minor faults.",
       [](const Group& group) { return seconds(group.fault_ns); });
  each("resident_bytes", "gauge", "Resident memory of processes.", [](const Group& group) { return group.resident; });
  const Machine& machine = last_.machine;
  if (machine.faults) {
    text.only("machine_faults_total", "counter", "Page faults of the machine (pgfault).", machine_faults_);
    text.only("machine_unseen_faults_total", "counter", "Machine faults that belong to no visible process.",
              unseen_faults_);
  }
  if (machine.allocated_bytes) {
    text.only("machine_allocated_bytes_total", "counter", "Bytes of pages that were allocated (pgalloc).", allocated_);
  }
  if (machine.huge_zeroed_bytes) {
    text.only("machine_huge_zeroed_bytes_total", "counter", "Bytes populated in huge pages.", huge_);
  }
  if (last_.fault_cost_ns) {
    text.only("zero_fill_fault_seconds", "gauge", "CPU time of one zero-fill fault on this machine.",
              *last_.fault_cost_ns / 1e9);
  }
  text.only("top_cpu_seconds_total", "counter", "CPU time of zerotax top itself.", seconds(own_ns_));
  text.only("top_samples_total", "counter", "Samples since zerotax top started.", samples_);
  text.only("top_last_sample_timestamp_seconds", "gauge", "Time of the last sample, in seconds since 1970.", now);
  return text.take();
}

}  // namespace zerotax::top
