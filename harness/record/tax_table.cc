#include "record/tax_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/units.h"
#include "base/wrap.h"
#include "record/figure_text.h"
#include "record/tax.h"

namespace zerotax::record {
namespace {

// More than this, and the program did not run as it does alone.
constexpr double kDearRecorder = 0.1;
constexpr std::size_t kMostReturns = 6;

struct CauseWords {
  const char* cause;
  const char* words;
};
constexpr CauseWords kCauseWords[] = {
    {"fresh", "kernel: fresh memory"},     {"refilled", "kernel: refilled memory"},
    {"returning", "kernel: returning it"}, {"redundant", "allocator: redundant"},
    {"needed", "allocator: needed"},       {"unexamined", "allocator: not examined"},
    {"in_free", "allocator: inside free"}, {"by_hand", "program: malloc+memset"},
};

std::string words_of(const std::string& cause) {
  for (const CauseWords& known : kCauseWords) {
    if (cause == known.cause) return known.words;
  }
  return cause;
}

/// What is none of the row's stays blank.
std::string or_blank(const Json& figure, std::string (*text)(const Json&)) {
  return figure.is_null() ? "" : text(figure);
}

std::string row_text(const Json& row) {
  const Json& ns = row.at("cpu_ns");
  std::string time = "n/a";
  if (ns.is_number()) {
    const bool marked = row.at("estimated").get<bool>() && ns != 0;
    time = ns == 0 ? "0" : (marked ? "~" : "") + format_ns(ns.get<double>());
  }
  return fmt::format("{:<26} {:>12} {:>12} {:>12} {:>10}\n", words_of(row.at("cause")),
                     or_blank(row.at("bytes"), bytes_text), or_blank(row.at("faults"), count_text), time,
                     percent_text(row.at("share_of_cpu")));
}

bool anything_estimated(const Json& tax) {
  const Json& rows = tax.at("rows");
  return std::any_of(rows.begin(), rows.end(), [](const Json& row) {
    return row.at("estimated").get<bool>() && row.at("cpu_ns").is_number() && row.at("cpu_ns") != 0;
  });
}

std::string notes(const Json& tax) {
  std::string text;
  const Json& cost = tax.at("fault_cost");
  if (anything_estimated(tax) && cost.at("base_ns_per_byte").is_number()) {
    text += wrap(fmt::format("~: bytes times {} a page, what populating memory took in {}{}.",
                             format_ns(cost.at("base_ns_per_byte").get<double>() * 4096),
                             cost.at("measured_in").get<std::string>(),
                             tax.at("capped").get<bool>() ? "; cut to the CPU time that was left" : ""),
                 "", "");
  }
  const auto unknown = tax.at("kernel_unknown_processes").get<std::uint64_t>();
  if (unknown != 0) {
    text += wrap(fmt::format("Without the kernel's part of {}, whose end was not seen.",
                             format_counted(unknown, "process", "processes")),
                 "", "");
  }
  return text;
}

}  // namespace

std::string recorder_cost_text(const Json& tax) {
  const auto own = tax.at("recorder_cpu_ns").get<double>();
  const double all = own + tax.at("cpu_ns").get<double>();
  if (all == 0 || own <= kDearRecorder * all) return "";
  return wrap(
      fmt::format("zerotax record: the recorder itself took {} of the run's CPU time. Every share below leaves it out.",
                  format_percent(own / all)),
      "", "");
}

std::string tax_text(const Json& tax) {
  std::string text = "\n";
  const Json& share = tax.at("share_of_cpu");
  if (share.is_number()) {
    const auto all = tax.at("zeroing_cpu_ns").get<double>();
    const auto kernel = tax.at("kernel_cpu_ns").get<double>();
    text += wrap(
        fmt::format("Zeroing took {} of CPU time, {} of the program's {}: {} in the kernel, {} in stores of zeros.",
                    format_ns(all), format_percent(share.get<double>()), format_ns(tax.at("cpu_ns").get<double>()),
                    format_ns(kernel), format_ns(all - kernel)),
        "", "");
  } else {
    text += wrap(fmt::format("The share of zeroing is unknown: {}.", share.at("na").get<std::string>()), "", "");
  }
  text += fmt::format("\n{:<26} {:>12} {:>12} {:>12} {:>10}\n", "zeroed by", "bytes", "faults", "CPU time", "share");
  for (const Json& row : tax.at("rows")) text += row_text(row);
  return text + notes(tax);
}

std::string advice_text(const Json& tax) { return "\n" + wrap(tax.at("advice").get<std::string>(), "", ""); }

bool is_worth_advice(const Json& tax) {
  const Json& rows = tax.at("rows");
  return std::any_of(rows.begin(), rows.end(), [](const Json& row) {
    const Json& share = row.at("share_of_cpu");
    return share.is_number() && share.get<double>() >= kNoticed;
  });
}

std::string pointer_text(const Json& tax) {
  return is_worth_advice(tax) ? "\nTo try what could help, and see what does: zerotax advise -- COMMAND\n" : "";
}

std::string returned_text(const Json& returned) {
  std::vector<Json> rows(returned.at("rows").begin(), returned.at("rows").end());
  if (rows.empty()) return "";
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Json& a, const Json& b) { return a.at("bytes") > b.at("bytes"); });
  std::string text = fmt::format("\n{:<26} {:>12} {:>12} {:>12} {:>10}\n", "returned to the kernel in", "bytes",
                                 "calls", "CPU time", "by");
  if (rows.size() > kMostReturns) rows.resize(kMostReturns);
  for (const Json& row : rows) {
    const std::string by = row.at("by");
    const std::string where = by == "allocation" ? "malloc or calloc"
                              : by == "purge"    ? "the allocator, on its own"
                              : by == "program"  ? "the program"
                                                 : by;
    text += fmt::format("{:<26} {:>12} {:>12} {:>12} {:>10}\n", where, bytes_text(row.at("bytes")),
                        count_text(row.at("calls")), ns_text(row.at("cpu_ns")), row.at("mechanism").get<std::string>());
  }
  const auto sampled = returned.at("sampled_calls").get<std::uint64_t>();
  if (sampled != 0) {
    text += wrap(fmt::format("{} of these calls returned less than 64 KiB each; one in 32 of them was examined.",
                             format_count(sampled)),
                 "", "");
  }
  return text;
}

}  // namespace zerotax::record
