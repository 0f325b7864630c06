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

std::string in_words(const Json& environment, const char* key) {
  const auto found = environment.find(key);
  if (found == environment.end() || is_not_available(*found)) return "n/a";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

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

std::string unlike_hosts(const Json& one, const Json& other) {
  std::string text;
  for (const char* key : {"kernel", "cpu", "thp", "page_bytes"}) {
    const std::string here = in_words(one, key);
    const std::string there = in_words(other, key);
    if (here != there) text += fmt::format("{}{}: {} and {}", text.empty() ? "" : "; ", key, here, there);
  }
  return text;
}

bool is_worse_load(const Json& one, const Json& other) {
  const auto others = [](const Json& load) {
    const Json& cpus = load.at("others_cpus");
    return std::pair(load.at("busy").get<bool>(), cpus.is_number() ? cpus.get<double>() : 0.0);
  };
  return others(one) > others(other);
}

Json load_of_hosts(const std::map<std::string, Json>& loads) {
  if (loads.empty()) return nullptr;
  auto worst = loads.begin();
  std::size_t busy = 0;
  for (auto each = loads.begin(); each != loads.end(); ++each) {
    if (is_worse_load(each->second, worst->second)) worst = each;
    if (each->second.at("busy").get<bool>()) ++busy;
  }
  Json load = worst->second;
  const auto sentence = load.at("sentence").get<std::string>();
  const std::string hosts = format_counted(loads.size(), "host");
  // Behind its verdict, which is of one host.
  load["sentence"] = fmt::format("{}; most was on {}{}",
                                 busy == 0 ? fmt::format("Measured on {}, none under load", hosts)
                                           : fmt::format("Measured under load on {} of {}", busy, hosts),
                                 worst->first, sentence.substr(std::min(sentence.find(": "), sentence.size())));
  return load;
}

Json comparable_times(const std::vector<Json>& points, const Hosts& hosts) {
  if (hosts.empty()) return nullptr;
  std::map<std::string, std::size_t> measured;
  for (const Json& point : points) ++measured[text_field(point, "host", "")];
  std::size_t most = 0;
  const Json* chosen = &hosts.begin()->second;
  for (const auto& [name, environment] : hosts) {
    std::size_t alike = 0;
    for (const auto& [other, its] : hosts) alike += unlike_hosts(environment, its).empty() ? measured[other] : 0;
    if (alike <= most) continue;
    most = alike;
    chosen = &environment;
  }
  Json comparable{{"hosts", Json::array()}, {"left_out", Json::object()}};
  for (const auto& [name, environment] : hosts) {
    const std::string why = unlike_hosts(*chosen, environment);
    if (why.empty()) {
      comparable["hosts"].push_back(name);
    } else {
      comparable["left_out"][name] = why;
    }
  }
  return comparable;
}

std::size_t leave_out_times(const Json& comparable, std::vector<Point>& points) {
  if (!comparable.is_object()) return 0;
  std::size_t left_out = 0;
  for (Point& point : points) {
    const auto why = point.host ? comparable.at("left_out").find(*point.host) : comparable.at("left_out").end();
    if (why == comparable.at("left_out").end()) continue;
    const std::string reason =
        fmt::format("measured on {}, which is unlike the other hosts ({})", *point.host, why->get<std::string>());
    ++left_out;
    take_times(point, reason);
    for (FirstOperation& operation : point.first_ops) take_times(operation, reason);
    for (CallMode& mode : point.timing_modes) take_times(mode, reason);
  }
  return left_out;
}

std::string left_out_text(const Json& comparable, std::size_t points) {
  if (points == 0 || !comparable.is_object()) return "";
  std::string hosts;
  for (const auto& [name, why] : comparable.at("left_out").items()) {
    hosts += fmt::format("{}{} ({})", hosts.empty() ? "" : ", ", name, why.get<std::string>());
  }
  return fmt::format("Times of {} are left out: they were measured on hosts unlike the others: {}.",
                     format_counted(points, "point"), hosts);
}

}  // namespace zerotax::fleet
