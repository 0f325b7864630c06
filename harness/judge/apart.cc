#include "judge/apart.h"

#include <algorithm>
#include <map>

namespace zerotax {

std::optional<Apart> furthest_apart(const Verdicts& verdicts, const std::function<bool(const PointTax&)>& meant,
                                    const PointValue& value, double least) {
  std::map<std::uint64_t, Apart> sizes;
  for (const PointTax& point : verdicts.points) {
    const auto known = meant(point) ? value(point) : std::nullopt;
    if (!known) continue;
    const double number = std::max(*known, least);
    Apart& apart = sizes[point.size_bytes];
    if (apart.least == nullptr || number < apart.low) {
      apart.least = &point;
      apart.low = number;
    }
    if (apart.most == nullptr || number >= apart.high) {
      apart.most = &point;
      apart.high = number;
    }
  }
  std::optional<Apart> furthest;
  for (const auto& [size, apart] : sizes) {
    if (apart.least->allocator == apart.most->allocator) continue;
    if (!furthest || apart.ratio() > furthest->ratio()) furthest = apart;
  }
  return furthest;
}

std::optional<Apart> rates_apart(const Verdicts& verdicts) {
  constexpr double kLeastRate = 1e-6;
  const auto of_case = [](const char* name) {
    return [name](const PointTax& point) { return point.case_name == name && point.touch == 0; };
  };
  const auto rate = [](const PointTax& point) { return point.mb_per_s; };
  const auto by_tls = furthest_apart(verdicts, of_case("recv_buffer"), rate, kLeastRate);
  return by_tls ? by_tls : furthest_apart(verdicts, of_case("recv_buffer_tcp"), rate, kLeastRate);
}

}  // namespace zerotax
