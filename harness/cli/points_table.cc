#include "cli/points_table.h"

#include <fmt/format.h>

#include "analyze/summary.h"
#include "analyze/tax.h"
#include "base/size.h"

namespace zerotax {
namespace {

std::string bytes(const Json& figure) {
  if (!figure.is_number()) return "n/a";
  const auto count = figure.get<std::uint64_t>();
  return count == 0 ? "0" : format_size(count);
}

std::string count(const Json& figure) { return figure.is_number() ? format_count(figure.get<std::uint64_t>()) : "n/a"; }

std::string time(const Json& figure) { return is_not_available(figure) ? "n/a" : format_ns(figure.at("median")); }

std::string thread_mark(const Json& point) { return point.at("thread") == "worker" ? " (worker)" : ""; }

}  // namespace

std::string points_table(const std::vector<Json>& points) {
  std::string text = fmt::format("{:<22} {:>9} {:>5} {:>9} {:>9} {:>9} {:>9}\n", "allocator", "size", "touch", "calloc",
                                 "faults", "zeroed", "redundant");
  for (const Json& point : points) {
    const std::string status = point.at("status");
    const std::string label = allocator_label(point).substr(0, 22) + thread_mark(point);
    text += fmt::format("{:<22} {:>9} {:>5g} ", label.substr(0, 22), format_size(point.at("size_bytes")),
                        point.at("touch").get<double>());
    if (status == "skipped") {
      text += "skipped\n";
      continue;
    }
    text += fmt::format("{:>9} {:>9} {:>9} {:>9}{}\n", time(point.at("calloc_ns")), count(point.at("calloc_faults")),
                        bytes(point.at("zeroed_bytes")), bytes(point.at("redundant_zeroed_bytes")),
                        status == "ok" ? "" : " !");
  }
  for (const Json& point : points) {
    if (point.at("status") == "ok") continue;
    text += fmt::format("{} {}, touch {:g}: {}: {}\n", point.at("allocator").get<std::string>(),
                        format_size(point.at("size_bytes")), point.at("touch").get<double>(),
                        point.at("status").get<std::string>(), point.at("reason").get<std::string>());
  }
  return text;
}

}  // namespace zerotax
