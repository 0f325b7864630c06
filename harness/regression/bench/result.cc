#include "bench/result.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/lines.h"
#include "base/shell.h"
#include "base/statistics.h"
#include "base/table.h"
#include "base/units.h"
#include "os/page.h"

namespace zerotax::bench {

namespace {

/// Returns words such as "takes 512 faults an iteration alone, and 0 in order".
std::string counts_words(const Benchmark& each) {
  const Counts& alone = *each.alone.counts;
  const bool given = depends_on_order(each);
  const Counts& other = given ? *each.in_order.counts : *each.shuffled.counts;
  const char* const where = given ? "in order" : "shuffled";
  if (differs(Unit::kBytes, alone.refilled_bytes, other.refilled_bytes)) {
    return fmt::format("the kernel refills {} an iteration alone, {} {}", bytes_words(alone.refilled_bytes),
                       bytes_words(other.refilled_bytes), where);
  }
  if (differs(Unit::kBytes, alone.zeroed_bytes, other.zeroed_bytes)) {
    return fmt::format("the allocator zeroes {} an iteration alone, {} {}", bytes_words(alone.zeroed_bytes),
                       bytes_words(other.zeroed_bytes), where);
  }
  return fmt::format("an iteration takes {} faults alone, {} {}", format_number(alone.minor_faults),
                     format_number(other.minor_faults), where);
}

void judge_one(Benchmark& each) {
  if (!each.alone.counts || !each.in_order.counts) {
    each.verdict = Verdict::kUnknown;
    each.sentence =
        fmt::format("not counted: {}", each.alone.counts ? each.in_order.counts.why() : each.alone.counts.why());
    return;
  }
  const bool given = depends_on_order(each);
  if (!given && !differ(each.alone.counts, each.shuffled.counts)) {
    each.verdict = Verdict::kSame;
    each.sentence = "the same in any order";
    return;
  }
  using Kind = TimeVerdict::Kind;
  const bool proven =
      given && each.time && (each.time->verdict == Kind::kFaster || each.time->verdict == Kind::kSlower);
  each.verdict = proven ? Verdict::kOrderDependent : Verdict::kCountsDiffer;
  each.sentence = counts_words(each);
  if (!each.cause.before.empty()) each.sentence += fmt::format("; because {} runs before it", each.cause.before);
  if (!each.cause.place.empty()) each.sentence += fmt::format("; returned by {}", each.cause.place);
}

TimeSample sample_of(const Benchmark& each) {
  TimeSample sample;
  const std::size_t pairs = std::min(each.alone.times_ns.size(), each.in_order.times_ns.size());
  for (std::size_t i = 0; i < pairs; ++i) {
    sample.log_ratios.push_back(std::log(each.in_order.times_ns[i] / each.alone.times_ns[i]));
  }
  if (pairs > 0) sample.old_ns = median(each.alone.times_ns);
  return sample;
}

}  // namespace

bool differs(Unit unit, double one, double other) {
  const auto page = static_cast<double>(page_bytes());
  constexpr double kPart = 0.1;
  const double more = std::max(one, other);
  const double off = std::abs(one - other);
  // A difference of one page among several can depend on where a block begins.
  const double least = off >= more / 2 ? 1 : 2;
  return off >= least * (unit == Unit::kBytes ? page : 1) && off >= kPart * more;
}

bool differ(const Measured<Counts>& one, const Measured<Counts>& other) {
  if (!one || !other) return false;
  return differs(Unit::kNumber, one->minor_faults, other->minor_faults) ||
         differs(Unit::kBytes, one->zeroed_bytes, other->zeroed_bytes);
}

bool depends_on_order(const Benchmark& benchmark) { return differ(benchmark.alone.counts, benchmark.in_order.counts); }

std::string bytes_words(double bytes) {
  return format_size(static_cast<std::uint64_t>(std::llround(std::max(0.0, bytes))));
}

void judge(Report& report) {
  std::vector<TimeSample> samples;
  samples.reserve(report.benchmarks.size());
  for (const Benchmark& each : report.benchmarks) samples.push_back(sample_of(each));
  CompareMethod method;
  method.floor_ns = 0;  // a time is already the mean of a loop
  const std::vector<TimeVerdict> times = judge_times(samples, method);
  std::vector<const Benchmark*> dependent;
  std::size_t unknown = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    Benchmark& each = report.benchmarks[i];
    if (times[i].kind != TimeVerdict::Kind::kUnknown) {
      const TimeRatio ratio = ratio_of(times[i]);
      each.time =
          TimeInOrder{times[i].kind, ratio.median, ratio.low, ratio.high, times[i].adjusted_p, times[i].log_ratio};
    }
    judge_one(each);
    if (each.verdict == Verdict::kOrderDependent) dependent.push_back(&each);
    unknown += each.verdict == Verdict::kUnknown ? 1 : 0;
  }
  const std::size_t all = report.benchmarks.size();
  if (!report.pin) {
    report.pin = NotAvailable{report.tried.empty() ? "nothing depends on the order"
                                                   : "no setting that was tried ends the dependence"};
  }
  report.next = report.pin ? report.pin->line + " " + shell_text(report.program) : shell_text(report.program);
  if (dependent.empty()) {
    const auto counted = std::count_if(report.benchmarks.begin(), report.benchmarks.end(), depends_on_order);
    report.sentence =
        counted == 0
            ? fmt::format("none of {} depends on the order", format_counted(all, "benchmark"))
            : fmt::format("{} of {} {} counts in order that differ from those alone; a difference of {} is not proven",
                          counted, format_counted(all, "benchmark"), counted == 1 ? "has" : "have",
                          counted == 1 ? "its time" : "their time");
    if (unknown != 0) report.sentence += fmt::format("; {} could not be counted", unknown);
    return;
  }
  // Only a difference of time makes a benchmark order-dependent.
  const auto weight = [](const Benchmark* each) { return std::abs(each->time->log_ratio); };
  const Benchmark& worst =
      **std::max_element(dependent.begin(), dependent.end(),
                         [&](const auto* one, const auto* other) { return weight(one) < weight(other); });
  const std::string after = "after " + (worst.cause.before.empty() ? "those before it" : worst.cause.before);
  const bool slower_alone = worst.time->log_ratio < 0;
  report.sentence = fmt::format("{} of {} {} order-dependent: {} takes {} times as long {} as {}", dependent.size(),
                                format_counted(all, "benchmark"), dependent.size() == 1 ? "is" : "are", worst.name,
                                format_number(std::exp(std::abs(worst.time->log_ratio))),
                                slower_alone ? "alone" : after, slower_alone ? after : "alone");
}

namespace {

std::string faults_text(const Observed& observed) {
  return observed.counts ? format_number(std::max(0.0, observed.counts->minor_faults)) : "n/a";
}

std::string bytes_text(const Observed& observed, double Counts::*bytes) {
  return observed.counts ? bytes_words(*observed.counts.*bytes) : "n/a";
}

/// Returns words such as "1.71 times (1.65 to 1.77)", with the 95 % interval.
std::string ratio_words(const Measured<TimeInOrder>& time) {
  if (!time) return "n/a";
  return fmt::format("{} times ({} to {})", format_number(time->ratio), format_number(time->low),
                     format_number(time->high));
}

Table benchmark_table() {
  return Table({{"benchmark", Unit::kText},
                {"", Unit::kText},
                right_text("time", 0, 2),
                right_text("faults", 0, 2),
                right_text("refilled", 0, 2),
                right_text("zeroed", 0, 2),
                {"verdict", Unit::kText}});
}

void add_rows(const Benchmark& each, Table& table) {
  constexpr std::size_t kLongestName = 24;
  const auto add = [&](const std::string& name, const char* order, const Observed& observed, const char* verdict) {
    table.add({name, order, time_text(median_ns(observed)), faults_text(observed),
               bytes_text(observed, &Counts::refilled_bytes), bytes_text(observed, &Counts::zeroed_bytes), verdict});
  };
  add(first_characters(each.name, kLongestName), "alone", each.alone, word(each.verdict));
  add("", "in order", each.in_order, "");
  const bool same = each.verdict == Verdict::kSame;
  if (!same && differ(each.alone.counts, each.shuffled.counts)) add("", "shuffled", each.shuffled, "");
}

/// Returns a sentence on the setting that ends the dependence. If no setting ends the dependence, the sentence lists
/// the settings that were tried.
std::string pin_sentence(const Report& report) {
  if (report.pin) {
    const Pin& pin = *report.pin;
    return fmt::format("With {}, no benchmark depends on the order: {} takes {} alone and {} in order, {}.", pin.name,
                       pin.benchmark, format_ns(pin.alone_ns), format_ns(pin.in_order_ns), ratio_words(pin.time));
  }
  if (report.tried.empty()) return "";
  return fmt::format("No setting that was tried ends the dependence: {}.", fmt::join(report.tried, ", "));
}

}  // namespace

Measured<double> median_ns(const Observed& observed) {
  if (observed.times_ns.empty()) return NotAvailable{"not timed"};
  return median(observed.times_ns);
}

std::string time_text(const Measured<double>& ns) {
  if (!ns) return "n/a";
  constexpr double kFew_ns = 10;
  return *ns < kFew_ns ? format_number(*ns) + " ns" : format_ns(*ns);
}

std::string bench_text(const Report& report) {
  std::string text = wrap(report.sentence, "", "  ");
  Table table = benchmark_table();
  for (const Benchmark& each : report.benchmarks) add_rows(each, table);
  text += "\n" + table.text() + "All values are of one iteration. Times are medians, without the recorder.\n";
  for (const Benchmark& each : report.benchmarks) {
    if (each.verdict == Verdict::kSame) continue;
    text += "\n" + wrap(fmt::format("{}: {}", each.name, each.sentence), "", "  ");
    if (!each.time) continue;
    text += wrap(fmt::format("time in order to time alone: {}, {}", ratio_words(each.time), word(each.time->verdict)),
                 "  ", "    ");
  }
  const std::string setting = pin_sentence(report);
  if (!setting.empty()) text += "\n" + wrap(setting, "", "  ");
  if (report.pin) text += "In CI: " + report.next + "\n";
  return text;
}

Answer bench_answer(const Report& report) {
  Answer answer{.headline = report.sentence + ".", .more = "Times and counts of all benchmarks"};
  std::vector<const Benchmark*> differing;
  for (const Benchmark& each : report.benchmarks) {
    if (each.verdict == Verdict::kUnknown) answer.warnings.push_back(fmt::format("{}: {}.", each.name, each.sentence));
    if (each.verdict == Verdict::kOrderDependent || each.verdict == Verdict::kCountsDiffer) differing.push_back(&each);
  }
  if (differing.empty()) return answer;
  const auto weight = [](const Benchmark* each) {
    const double log_ratio = each->time ? std::abs(each->time->log_ratio) : 0;
    return std::pair(each->verdict == Verdict::kOrderDependent, log_ratio);
  };
  std::stable_sort(differing.begin(), differing.end(),
                   [&](const auto* one, const auto* other) { return weight(one) > weight(other); });
  Table table = benchmark_table();
  for (const Benchmark* each : differing) add_rows(*each, table);
  answer.table = table;
  const Benchmark& worst = *differing.front();
  answer.where = fmt::format("{}: {}.", worst.name, worst.sentence);
  if (worst.time) {
    answer.where +=
        fmt::format(" Time in order to time alone is {}: {}.", ratio_words(worst.time), word(worst.time->verdict));
  }
  if (report.pin) {
    answer.steps.push_back({report.next, "in CI, end the dependence with this setting:"});
  }
  if (const std::string setting = pin_sentence(report); !setting.empty()) answer.warnings.push_back(setting);
  answer.legend = "All values are of one iteration; times are medians, without the recorder.";
  return answer;
}

}  // namespace zerotax::bench
