#include "bench/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/statistics.h"
#include "base/table.h"
#include "base/units.h"
#include "base/wrap.h"
#include "bench/verdict.h"

namespace zerotax::bench {
namespace {

std::string faults_text(const Observed& observed) {
  return observed.counts ? format_number(std::max(0.0, observed.counts->minor_faults)) : "n/a";
}

std::string bytes_text(const Observed& observed, double Counts::*bytes) {
  return observed.counts ? bytes_words(*observed.counts.*bytes) : "n/a";
}

Column right(const char* name) { return {name, Unit::kText, 0, "n/a", std::nullopt, 2, Column::Side::kRight}; }

}  // namespace

std::string time_text(const Observed& observed) {
  if (observed.times_ns.empty()) return "n/a";
  constexpr double kFew_ns = 10;
  const double ns = median(observed.times_ns);
  return ns < kFew_ns ? format_number(ns) + " ns" : format_ns(ns);
}

std::string bench_text(const Report& report) {
  std::string text = wrap(report.sentence, "", "  ");
  Table table({{"benchmark", Unit::kText},
               {"", Unit::kText},
               right("time"),
               right("faults"),
               right("refilled"),
               right("zeroed"),
               {"verdict", Unit::kText}});
  const auto add = [&](const std::string& name, const char* order, const Observed& observed, const char* verdict) {
    table.add({name, order, time_text(observed), faults_text(observed), bytes_text(observed, &Counts::refilled_bytes),
               bytes_text(observed, &Counts::zeroed_bytes), verdict});
  };
  for (const Benchmark& each : report.benchmarks) {
    add(each.name, "alone", each.alone, word_of(each.verdict));
    add("", "in order", each.in_order, "");
    const bool same = each.verdict == Verdict::kSame;
    if (!same && differ(each.alone.counts, each.shuffled.counts)) add("", "shuffled", each.shuffled, "");
  }
  text += "\n" + table.text() + "All are of one iteration. Times are medians, without the recorder.\n";
  for (const Benchmark& each : report.benchmarks) {
    if (each.verdict == Verdict::kSame) continue;
    text += "\n" + wrap(fmt::format("{}: {}", each.name, each.sentence), "", "  ");
    if (each.time.kind == TimeVerdict::Kind::kUnknown) continue;
    text += wrap(
        fmt::format("time in order to time alone: {}, {}", ratio_words(each.time), zerotax::word_of(each.time.kind)),
        "  ", "    ");
  }
  if (report.pin) {
    const Pin& pin = *report.pin;
    text += "\n" + wrap(fmt::format("With {} it does not depend on the order: {} takes {} alone and {} in order, {}.",
                                    pin.name, pin.benchmark, format_ns(pin.alone_ns), format_ns(pin.in_order_ns),
                                    ratio_words(pin.time)),
                        "", "  ");
    text += "In CI: " + report.next + "\n";
  } else if (!report.tried.empty()) {
    text +=
        "\n" + wrap(fmt::format("No setting that was tried ends that: {}.", fmt::join(report.tried, ", ")), "", "  ");
  }
  return text;
}

}  // namespace zerotax::bench
