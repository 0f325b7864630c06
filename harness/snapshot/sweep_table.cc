#include <fmt/format.h>

#include "base/units.h"
#include "base/wrap.h"
#include "snapshot/cpu_time.h"
#include "snapshot/sweep.h"

namespace zerotax::snapshot {
namespace {

constexpr const char* kSweepRow = "{:<16}{:>9}{:>8}{:>5}{:>4}{:>9}{:>9}{:>8}{:>12}\n";

std::string sweep_time(const Json& figure) { return is_not_available(figure) ? "-" : format_ns(figure.at("median")); }

std::string copying_word(const Json& verdict) {
  const Json& copying = verdict.at("is_it_copying");
  if (is_not_available(copying)) return "n/a";
  return copying == "no" ? "no" : copying == "until_end" ? "till end" : "after it";
}

std::string row_text(const Json& row) {
  const bool ok = row.at("status") == "ok";
  const Json& runs = row.at("copy_done_first_runs");
  return fmt::format(
      kSweepRow, row.at("alternative").get<std::string>(), format_size(row.at("array_bytes")),
      format_size(row.at("batch_bytes")), row.at("writers").get<unsigned>(), row.at("checkpointers").get<unsigned>(),
      sweep_time(row.at("writers_wall_ns")), sweep_time(row.at("copy_ns")),
      is_not_available(runs) ? "-" : fmt::format("{}/{}", runs.get<std::size_t>(), row.at("runs").get<std::size_t>()),
      ok ? copying_word(row.at("verdict")) : row.at("status").get<std::string>());
}

}  // namespace

std::string sweep_table(const Json& sweep) {
  std::string text = fmt::format(kSweepRow, "", "", "", "wri-", "co-", "writers", "copied", "copied", "is it");
  text += fmt::format(kSweepRow, "alternative", "array", "batch", "ters", "py", "need", "after", "first", "copying?");
  std::string reasons;
  std::string placement = "default";
  for (const Json& row : sweep.at("rows")) {
    // Too seldom to have a column.
    if (row.at("placement") != placement) {
      placement = row.at("placement");
      text += fmt::format("array and copy on NUMA nodes: {}\n", placement);
    }
    text += row_text(row);
    if (row.at("reason").is_string()) {
      reasons += wrap(fmt::format("{}: {}: {}", sweep_title(row), row.at("status").get<std::string>(),
                                  row.at("reason").get<std::string>()),
                      "", "  ");
    }
  }
  if (!reasons.empty()) text += "\n" + reasons;
  const Json& sentence = sweep.at("sentence");
  text += "\n" +
          wrap(is_not_available(sentence) ? sentence.at("na").get<std::string>() : sentence.get<std::string>(), "", "");
  return text + wrap("copied first: runs in which the copy was done before the writers were, of all.", "", "");
}

std::string sweep_plots(const Json& sweep, const PlotStyle& style) {
  std::string text;
  for (const Json& row : sweep.at("rows")) {
    const std::string plot = cpu_time_plot(sweep_title(row), row.at("cpu_time"), style);
    if (!plot.empty()) text += "\n" + plot;
  }
  return text;
}

}  // namespace zerotax::snapshot
