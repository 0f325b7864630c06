#include "study/points_table.h"

#include <fmt/format.h>

#include <cmath>

#include "base/size.h"
#include "base/units.h"
#include "findings/points.h"
#include "findings/tax.h"
#include "study/summary.h"

namespace zerotax::study {

using findings::allocator_label;
using findings::bound_words;
using findings::count_in;
using findings::is_upper_bound;
namespace {

std::string bytes(const Json& figure) {
  if (!figure.is_number()) return "n/a";
  const auto count = figure.get<std::uint64_t>();
  return count == 0 ? "0" : format_size(count);
}

std::string count(const Json& figure) { return figure.is_number() ? format_count(figure.get<std::uint64_t>()) : "n/a"; }

std::string time(const Json& figure) { return is_not_available(figure) ? "n/a" : format_ns(figure.at("median")); }

/// The allocator and, if it is a worker, the thread, in 22 places.
std::string row_label(const Json& point) {
  return (allocator_label(point).substr(0, 22) + (point.at("thread") == "worker" ? " (worker)" : "")).substr(0, 22);
}

/// A rate or ratio to three digits, in six places.
std::string three_digits(const Json& figure) {
  if (!figure.is_number()) return "n/a";
  return format_number(figure.get<double>());
}

/// What was received, for the points of cases that receive; empty if there is none.
std::string transfers_table(const std::vector<Json>& points) {
  std::string text;
  for (const Json& point : points) {
    const auto found = point.find("transfer");
    if (found == point.end()) continue;
    if (text.empty()) {
      text = fmt::format("\n{:<22} {:<15} {:>9} {:>6} {:>8} {:>8} {:>6}\n", "allocator", "receiving by", "size", "MB/s",
                         "CPU s/GB", "zeroed/B", "flt/MB");
    }
    text += fmt::format("{:<22} {:<15} {:>9} {:>6} {:>8} {:>8} {:>6}\n", row_label(point),
                        point.at("case").get<std::string>(), format_size(point.at("size_bytes")),
                        three_digits(found->at("mb_per_s")), three_digits(found->at("cpu_s_per_gb")),
                        three_digits(found->at("zeroed_per_received_byte")), three_digits(found->at("faults_per_mb")));
  }
  return text;
}

/// What forks cost and the writes after them did, two lines each, for the points of cases that fork; empty if there is
/// none.
std::string forks_table(const std::vector<Json>& points) {
  std::string text;
  for (const Json& point : points) {
    const auto found = point.find("fork");
    if (found == point.end()) continue;
    if (text.empty()) {
      text = fmt::format("\n{:<22} {:>8} {:>5} {:>7}  {:<6} {:>8} {:>8} {:>8}\n", "forking", "size", "touch", "fork",
                         "by", "copies", "reuses", "0-fills");
    }
    const bool huge = point.at("case").get<std::string>().ends_with("_huge");
    text += fmt::format("{:<22} {:>8} {:>5g} {:>7}", row_label(point), format_size(point.at("size_bytes")),
                        point.at("touch").get<double>(), time(found->at("fork_ns")));
    for (const char* process : {"child", "parent"}) {
      if (process == std::string("parent")) {
        text += fmt::format("{:<45}", fmt::format("  page tables: {}{}", bytes(found->at("page_table_bytes")),
                                                  huge ? "; huge pages advised" : ""));
      }
      const Json& writes = found->at(process);
      text += fmt::format("  {:<6} {:>8} {:>8} {:>8}\n", process, count(writes.at("copies")),
                          count(writes.at("reuses")), count(writes.at("zero_fills")));
    }
  }
  return text;
}

/// The kinds of calls of points whose calls are not alike, a line each; empty if there are none. The table has medians.
std::string modes_list(const std::vector<Json>& points) {
  std::string text;
  for (const Json& point : points) {
    const auto modes = point.find("modes");
    if (modes == point.end()) continue;
    text += fmt::format("{}{} {}, touch {:g}: the calls are not alike\n", text.empty() ? "\n" : "", row_label(point),
                        format_size(point.at("size_bytes")), point.at("touch").get<double>());
    for (const auto& [pass, kinds] : modes->items()) {
      std::uint64_t all = 0;
      for (const Json& kind : kinds) all += kind.at("ops").get<std::uint64_t>();
      for (const Json& kind : kinds) {
        const std::string calls = fmt::format("  {} of {} calls", kind.at("ops").get<std::uint64_t>(), all);
        text += pass == "audit" ? fmt::format("{}: {} zeroed, {} of it redundant, {} populated\n", calls,
                                              bytes(kind.at("zeroed_bytes")), bytes(kind.at("redundant_zeroed_bytes")),
                                              bytes(kind.at("populated_bytes")))
                                : fmt::format("{}: {} page faults, {}\n", calls, count(kind.at("calloc_faults")),
                                              format_ns(kind.at("calloc_ns")));
      }
    }
  }
  return text;
}

/// A line for each point whose free wrote zeros, which no column tells of.
std::string frees_text(const std::vector<Json>& points) {
  std::string text;
  for (const Json& point : points) {
    if (count_in(point, "zeroed_in_free_bytes").value_or(0) == 0) continue;
    text += fmt::format("{} {}, touch {:g}: free zeroes {}{}, {} of it redundant\n", row_label(point),
                        format_size(point.at("size_bytes")), point.at("touch").get<double>(),
                        bound_words(is_upper_bound(point, "zeroed_in_free_bytes")),
                        bytes(point.at("zeroed_in_free_bytes")), bytes(point.at("redundant_zeroed_in_free_bytes")));
  }
  return text;
}

}  // namespace

std::string points_table(const std::vector<Json>& points) {
  std::string text = fmt::format("{:<22} {:>9} {:>5} {:>9} {:>9} {:>9} {:>9}\n", "allocator", "size", "touch", "calloc",
                                 "faults", "zeroed", "redundant");
  for (const Json& point : points) {
    const std::string status = point.at("status");
    text += fmt::format("{:<22} {:>9} {:>5g} ", row_label(point), format_size(point.at("size_bytes")),
                        point.at("touch").get<double>());
    if (status == "skipped") {
      text += "skipped\n";
      continue;
    }
    text += fmt::format("{:>9} {:>9} {:>9} {:>9}{}\n", time(point.at("calloc_ns")), count(point.at("calloc_faults")),
                        bytes(point.at("zeroed_bytes")), bytes(point.at("redundant_zeroed_bytes")),
                        status == "ok" ? "" : " !");
  }
  text += modes_list(points) + transfers_table(points) + forks_table(points) + frees_text(points);
  for (const Json& point : points) {
    if (point.at("status") == "ok") continue;
    text += fmt::format("{} {}, touch {:g}: {}: {}\n", point.at("allocator").get<std::string>(),
                        format_size(point.at("size_bytes")), point.at("touch").get<double>(),
                        point.at("status").get<std::string>(), point.at("reason").get<std::string>());
  }
  return text;
}

}  // namespace zerotax::study
