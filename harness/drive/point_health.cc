#include "drive/point_health.h"

#include <fmt/format.h>

#include <string_view>

#include "base/size.h"

namespace zerotax {
namespace {

/// How describe_change (analyze/signature.cc) begins where a status changes.
constexpr std::string_view kStatusChange = "the point is ";

/// "the point is crashed (before: ok)", and the other way round.
bool tells_of_failing(const std::string& change) {
  if (!change.starts_with(kStatusChange)) return false;
  constexpr std::string_view kBefore = " (before: ";
  const auto before = change.find(kBefore);
  if (before == std::string::npos) return true;
  const std::string above = change.substr(kStatusChange.size(), before - kStatusChange.size());
  const std::string below = change.substr(before + kBefore.size(), change.size() - before - kBefore.size() - 1);
  return !is_healthy_status(above) || !is_healthy_status(below);
}

}  // namespace

bool is_healthy_status(const std::string& status) { return status == "ok" || status == "skipped"; }

bool is_healthy(const Json& point) { return is_healthy_status(text_field(point, "status", "none")); }

std::vector<std::string> failing_in_baseline(const Json& baseline) {
  std::vector<std::string> lines;
  for (const Json& point : baseline.at("points")) {
    if (is_healthy(point)) continue;
    lines.push_back(fmt::format("{} {} touch {:g} {}: {}", text_field(point, "case", ""),
                                format_size(point.at("size_bytes").get<std::uint64_t>()),
                                point.at("touch").get<double>(), text_field(point, "thread", ""),
                                text_field(point, "status", "no status")));
  }
  for (const Json& threshold : baseline.value("thresholds", Json::array())) {
    for (const Json& change : threshold.at("changes")) {
      if (!change.is_string() || !tells_of_failing(change.get<std::string>())) continue;
      lines.push_back(fmt::format("from {} bytes on: {}", threshold.at("at_bytes").dump(), change.get<std::string>()));
    }
  }
  return lines;
}

}  // namespace zerotax
