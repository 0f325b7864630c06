#include <fmt/format.h>

#include <cmath>

#include "base/size.h"
#include "base/units.h"
#include "base/wrap.h"
#include "snapshot/document.h"

namespace zerotax::snapshot {
namespace {

constexpr const char* kRow = "{:<16}{:>8}{:>6}{:>8}{:>8}{:>9}{:>10}{:>7}{:>7}\n";
constexpr const char* kAfterRow = "{:<16}{:>9}{:>9}{:>13}{:>13}{:>11}\n";

std::string time(const Json& figure) { return is_not_available(figure) ? "n/a" : format_ns(figure.at("median")); }

std::string signed_time(double ns) { return (ns < 0 ? "-" : "") + format_ns(std::abs(ns)); }

std::string faults(const Json& result, const char* kind) {
  const Json& found = result.at("faults");
  if (is_not_available(found)) return "n/a";
  return std::to_string(found.at("before_end").at(kind).get<std::uint64_t>() +
                        found.at("after_end").at(kind).get<std::uint64_t>());
}

std::string row(const Json& result) {
  const Json& memory = result.at("memory");
  const Json& slowdown = result.at("slowdown");
  return fmt::format(kRow, result.at("alternative").get<std::string>(), time(result.at("writers_wall_ns")),
                     is_not_available(slowdown) ? "n/a" : fmt::format("{:.2f}", slowdown.get<double>()),
                     time(result.at("writers_system_ns")), time(result.at("stopped_ns")),
                     is_not_available(result.at("snapshot_ns")) ? "-" : time(result.at("snapshot_ns")),
                     is_not_available(memory) ? "n/a" : "+" + format_size(added_bytes(result)),
                     faults(result, "copies"), faults(result, "reuses"));
}

std::string after_row(const Json& result) {
  const Json& after = result.at("after_end");
  const Json& held = result.at("faults_held");
  const Json& helper = after.at("helper");
  const Json& remedy = result.at("remedy");
  return fmt::format(kAfterRow, result.at("alternative").get<std::string>(),
                     is_not_available(held) ? "n/a" : held.at("after_end").at("reuses").dump(),
                     fmt::format("{:.0f}", after.at("writers_faults").at("median").get<double>()),
                     time(after.at("writers_system_ns")),
                     is_not_available(helper) ? "-"
                                              : format_ns(helper.at("user_ns").at("median").get<double>() +
                                                          helper.at("system_ns").at("median").get<double>()),
                     is_not_available(remedy) ? "-" : signed_time(remedy.at("saved_ns")));
}

/// What the writers and the helper do once the child has ended: of those with a child, if there is a remedy among them.
std::string after_table(const Json& snapshot) {
  std::string rows;
  bool remedy = false;
  const Json& results = snapshot.at("results");
  for (const Json& result : results) {
    if (result.at("allocator") != results.front().at("allocator") || result.at("status") != "ok") continue;
    if (!result.contains("after_end") || is_not_available(result.at("after_end"))) continue;
    remedy = remedy || !is_not_available(result.at("remedy"));
    rows += after_row(result);
  }
  if (!remedy) return "";
  return fmt::format("\nAll writes after the child's end{}:\n",
                     snapshot.at("advice").size() > 1
                         ? fmt::format(" ({})", results.front().at("allocator").get<std::string>())
                         : "") +
         fmt::format(kAfterRow, "", "reuse", "faults", "kernel CPU", "CPU time", "saved by") +
         fmt::format(kAfterRow, "alternative", "faults", "counted", "of writers", "of helper", "the remedy") + rows;
}

std::string allocator_of(const Json& result) {
  std::string text = result.at("allocator");
  if (result.at("version").is_string()) text += " " + result.at("version").get<std::string>();
  for (const auto& [key, value] : result.at("env").items())
    text += fmt::format(" {}={}", key, value.get<std::string>());
  return text;
}

std::string usual_words(const Json& of) {
  return fmt::format(
      "is written {} by {}; halfway through the first time a snapshot is taken, and copied by {} in batches of {}.",
      format_counted(of.at("passes"), "time"), format_counted(of.at("writers"), "thread"),
      format_counted(of.at("checkpointers"), "thread"), format_size(of.at("batch_bytes")));
}

std::string published_words(const Json& of, const Json& batch_bytes) {
  return fmt::format("is written {} by {}, started after the fork; the child copies it by {} in batches of {}.",
                     format_counted(of.at("passes"), "time"), format_counted(of.at("writers"), "thread"),
                     format_counted(of.at("checkpointers"), "thread"), format_size(batch_bytes));
}

/// What is run: of the usual alternatives, of the published ones, or of both.
std::string head(const Json& snapshot) {
  const Json& parameters = snapshot.at("parameters");
  const Json* usual = nullptr;
  const Json* published = nullptr;
  for (const Json& result : snapshot.at("results")) {
    (text_field(result, "baseline", "none") == "none" ? usual : published) = &result;
  }
  std::string text = fmt::format("An array of {} ", format_size(parameters.at("array_bytes")));
  if (usual != nullptr || published == nullptr) text += usual_words(parameters);
  if (published != nullptr) {
    if (usual != nullptr) text += " In the published program, it ";
    text += published_words(published->at("parameters"), parameters.at("batch_bytes"));
  }
  return wrap(fmt::format("{} Medians of {}.", text, format_counted(parameters.at("repeat"), "run")), "", "");
}

}  // namespace

std::string snapshot_table(const Json& snapshot) {
  std::string text = head(snapshot);
  std::string allocator;
  for (const Json& result : snapshot.at("results")) {
    if (allocator != allocator_of(result)) {
      allocator = allocator_of(result);
      text += fmt::format("\n{}\n", allocator);
      text += fmt::format(kRow, "", "writers", "", "kernel", "stopped", "complete", "memory", "pages", "pages");
      text += fmt::format(kRow, "alternative", "need", "times", "CPU", "for", "after", "at most", "copied", "reused");
    }
    text += row(result);
  }
  text += after_table(snapshot);
  std::string reasons;
  for (const Json& result : snapshot.at("results")) {
    if (result.at("status") == "ok") continue;
    reasons += wrap(fmt::format("{} under {}: {}: {}", result.at("alternative").get<std::string>(),
                                result.at("allocator").get<std::string>(), result.at("status").get<std::string>(),
                                result.at("reason").get<std::string>()),
                    "", "  ");
  }
  return text + (reasons.empty() ? "" : "\n" + reasons);
}

}  // namespace zerotax::snapshot
