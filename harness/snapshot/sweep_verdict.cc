#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "snapshot/document.h"
#include "snapshot/sweep.h"

namespace zerotax::snapshot {
namespace {

/// Copies after the child's end that are of no child: pages on the list of another CPU, 31 for each (docs/cow.md), and
/// the few faults that were under way when it ended.
constexpr double kStrayShare = 0.02;

Json copying_verdict(const Json& faults) {
  if (is_not_available(faults)) return faults;
  const auto before = faults.at("before_end").at("copies").get<std::uint64_t>();
  const auto after = faults.at("after_end").at("copies").get<std::uint64_t>();
  if (static_cast<double>(after) > kStrayShare * faults.at("pages").get<double>()) return "after_end";
  return before > 0 ? "until_end" : "no";
}

Json first_verdict(const Json& row) {
  const Json& runs = row.at("copy_done_first_runs");
  if (is_not_available(runs)) return runs;
  if (runs == 0) return "never";
  return runs == row.at("runs") ? "always" : "sometimes";
}

std::string copying_words(const Json& copying, const Json& faults) {
  if (is_not_available(copying)) return "whether the kernel copies is not known";
  const auto count = [&](const char* part, const char* kind) {
    return format_count(faults.at(part).at(kind).get<std::uint64_t>());
  };
  const std::string after =
      fmt::format("after it {} copied and {} reused", count("after_end", "copies"), count("after_end", "reuses"));
  if (copying == "no") return fmt::format("the kernel copies nothing; {}", after);
  return fmt::format("the kernel copies {} pages until the copy is done and its child has ended, {}",
                     count("before_end", "copies"), after);
}

std::string first_words(const Json& row) {
  const Json& runs = row.at("copy_done_first_runs");
  if (is_not_available(runs)) return "there is no copy";
  return fmt::format("the copy is done before the writers are in {} of {}", runs.get<std::uint64_t>(),
                     format_counted(row.at("runs").get<std::uint64_t>(), "run"));
}

/// The rows of whose faults the kernel's buffers lost some. Empty if none were lost.
std::string loss_of(const Json& rows) {
  std::vector<std::string> lost;
  for (const Json& row : rows) {
    if (row.at("status") != "ok" || is_not_available(row.at("faults"))) continue;
    const auto events = row.at("faults").at("lost").get<std::uint64_t>();
    if (events > 0) lost.push_back(fmt::format("{} ({} lost)", sweep_title(row), format_counted(events, "event")));
  }
  return loss_text(lost);
}

}  // namespace

std::string sweep_title(const Json& row) {
  const std::string placement = row.at("placement");
  return fmt::format("{}, {} in batches of {}, {}, {}{}", row.at("alternative").get<std::string>(),
                     format_size(row.at("array_bytes")), format_size(row.at("batch_bytes")),
                     format_counted(row.at("writers").get<std::uint64_t>(), "writer"),
                     format_counted(row.at("checkpointers").get<std::uint64_t>(), "checkpointer"),
                     placement == "default" ? "" : ", " + placement);
}

Json sweep_verdict(const Json& row) {
  if (row.at("status") != "ok") return not_available(text_field(row, "reason", "it failed"));
  Json verdict{{"is_it_copying", copying_verdict(row.at("faults"))}, {"copy_done_first", first_verdict(row)}};
  verdict["sentence"] =
      fmt::format("{}; {}.", first_words(row), copying_words(verdict["is_it_copying"], row.at("faults")));
  return verdict;
}

void add_sweep_verdict(Json& sweep) {
  std::size_t measured = 0;
  std::size_t first = 0;
  std::size_t late = 0;
  const std::string loss = loss_of(sweep.at("rows"));
  sweep["loss"] = loss.empty() ? Json() : Json(loss);
  for (Json& row : sweep.at("rows")) {
    row["verdict"] = sweep_verdict(row);
    const Json& verdict = row["verdict"];
    if (is_not_available(verdict) || is_not_available(verdict.at("copy_done_first"))) continue;
    ++measured;
    first += verdict.at("copy_done_first") == "always" ? 1 : 0;
    late += verdict.at("is_it_copying") == "after_end" ? 1 : 0;
  }
  if (measured == 0) {
    sweep["sentence"] = not_available("no row with a snapshot was measured");
    return;
  }
  sweep["sentence"] = fmt::format(
      "The copy is always done before the writers are in {} of {}; the kernel goes on copying after the child's end in "
      "{}.",
      first, format_counted(measured, "row"), late == 0 ? "none" : std::to_string(late));
}

}  // namespace zerotax::snapshot
