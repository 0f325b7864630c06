#include "run/fleet/hosts.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/units.h"
#include "point/metrics.h"

namespace zerotax::fleet {
namespace {

bool is_time(const MetricRow& row) {
  return row.kind == MetricKind::kTimeSpread || row.kind == MetricKind::kDuration ||
         (row.kind == MetricKind::kRatio && row.pass == MetricPass::kTiming);
}

void take_times(MetricValues& values, const std::string& why) {
  for (const MetricRow& row : metric_rows()) {
    if (is_time(row) && values.is_measured(row.metric)) values[row.metric] = MetricValue::not_available(why);
  }
}

}  // namespace

std::string host_name() {
  if (const char* node = std::getenv("SLURMD_NODENAME"); node != nullptr && *node != '\0') return node;
  utsname system{};
  ::uname(&system);
  return &system.nodename[0];
}

std::string unlike_hosts(const Environment& one, const Environment& other) {
  std::string text;
  const auto compare = [&](const char* what, const auto& here, const auto& there) {
    const auto word = [](const auto& value) { return value ? fmt::format("{}", *value) : "n/a"; };
    if (word(here) == word(there)) return;
    text += fmt::format("{}{}: {} and {}", text.empty() ? "" : "; ", what, word(here), word(there));
  };
  compare("kernel", one.kernel, other.kernel);
  compare("cpu", one.cpu, other.cpu);
  compare("thp", one.thp, other.thp);
  compare("page_bytes", one.page_bytes, other.page_bytes);
  return text;
}

bool is_worse_load(const Load& one, const Load& other) {
  const auto others = [](const Load& load) { return std::pair(load.busy, load.others_cpus.value_or(0)); };
  return others(one) > others(other);
}

std::optional<Load> load_of_hosts(const std::map<std::string, Load>& loads) {
  if (loads.empty()) return std::nullopt;
  auto worst = loads.begin();
  std::size_t busy = 0;
  for (auto each = loads.begin(); each != loads.end(); ++each) {
    if (is_worse_load(each->second, worst->second)) worst = each;
    if (each->second.busy) ++busy;
  }
  Load load = worst->second;
  const std::string hosts = format_counted(loads.size(), "host");
  // The text after the colon comes from the worst host.
  load.sentence =
      fmt::format("{}; most was on {}{}",
                  busy == 0 ? fmt::format("Measured on {}, none under load", hosts)
                            : fmt::format("Measured under load on {} of {}", busy, hosts),
                  worst->first, load.sentence.substr(std::min(load.sentence.find(": "), load.sentence.size())));
  return load;
}

std::optional<ComparableTimes> comparable_times(const std::vector<Point>& points, const Hosts& hosts) {
  if (hosts.empty()) return std::nullopt;
  std::map<std::string, std::size_t> measured;
  for (const Point& point : points) ++measured[point.host.value_or("")];
  std::size_t most = 0;
  const Environment* chosen = &hosts.begin()->second;
  for (const auto& [name, environment] : hosts) {
    std::size_t alike = 0;
    for (const auto& [other, its] : hosts) alike += unlike_hosts(environment, its).empty() ? measured[other] : 0;
    if (alike <= most) continue;
    most = alike;
    chosen = &environment;
  }
  ComparableTimes comparable;
  for (const auto& [name, environment] : hosts) {
    const std::string why = unlike_hosts(*chosen, environment);
    if (why.empty()) {
      comparable.hosts.push_back(name);
    } else {
      comparable.left_out.emplace(name, why);
    }
  }
  return comparable;
}

std::size_t leave_out_times(const std::optional<ComparableTimes>& comparable, std::vector<Point>& points) {
  if (!comparable) return 0;
  std::size_t left_out = 0;
  for (Point& point : points) {
    const auto why = comparable->left_out.find(point.host.value_or(""));
    if (why == comparable->left_out.end()) continue;
    const std::string reason =
        fmt::format("measured on {}, which is unlike the other hosts ({})", *point.host, why->second);
    ++left_out;
    take_times(point, reason);
    for (FirstOperation& operation : point.first_ops) take_times(operation, reason);
    for (CallMode& mode : point.timing_modes) take_times(mode, reason);
  }
  return left_out;
}

std::string left_out_text(const std::optional<ComparableTimes>& comparable, std::size_t points) {
  if (points == 0 || !comparable) return "";
  std::string hosts;
  for (const auto& [name, why] : comparable->left_out) {
    hosts += fmt::format("{}{} ({})", hosts.empty() ? "" : ", ", name, why);
  }
  return fmt::format("Times of {} are left out, because the measuring hosts differ from the others: {}.",
                     format_counted(points, "point"), hosts);
}

}  // namespace zerotax::fleet
