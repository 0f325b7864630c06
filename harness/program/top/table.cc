#include "base/table.h"

#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "base/lines.h"
#include "base/units.h"
#include "top/result.h"
#include "top/view.h"

namespace zerotax::top {
namespace {

/// From this width in characters, the table has columns for users and for the faults of children.
constexpr std::size_t kWide = 100;
/// Widths in characters: the columns before a group's name, the column of children's faults, and the minimum for a
/// name.
constexpr std::size_t kBeforeName = 62;
constexpr std::size_t kChildren = 11;
constexpr std::size_t kLeastName = 17;

template <typename Number>
std::uint64_t a_second(Number count, const Sample& sample) {
  return sample.interval_s > 0
             ? static_cast<std::uint64_t>(std::llround(static_cast<double>(count) / sample.interval_s))
             : 0;
}

template <typename Format>
std::string rate(const Measured<std::uint64_t>& count, const Sample& sample, const Format& format) {
  return count ? format(a_second(*count, sample)) : "n/a";
}

std::vector<Column> columns_of(const Sample& sample, bool wide) {
  std::vector<Column> columns;
  const bool processes = sample.by == By::kProcess;
  columns.push_back(right_text(processes ? "pid" : "processes", 7));
  if (wide && processes) columns.push_back({"user", Unit::kText, 8});
  columns.push_back({"faults/s", Unit::kCount, 9});
  if (wide) columns.push_back({"children/s", Unit::kCount, 10});
  columns.push_back({"≤zeroed/s", Unit::kBytes, 9});
  columns.push_back({"≤refill/s", Unit::kBytes, 9});
  columns.push_back({"~fault", Unit::kWholePercent, 6});
  columns.push_back({"cpu", Unit::kWholePercent, 5});
  columns.push_back({"rss", Unit::kBytes, 8});
  if (processes) columns.push_back({"huge", Unit::kBytes, 8});
  columns.push_back({processes ? "command" : word(sample.by)});
  return columns;
}

/// Cuts a long cgroup at its beginning, because cgroups differ at their ends.
std::string shown_name(const Usage& row, const Sample& sample, std::size_t columns) {
  const std::size_t before = kBeforeName + (columns >= kWide ? kChildren : 0);
  const std::size_t room = columns > before + kLeastName ? columns - before : kLeastName;
  const std::string name = one_line(row.name);
  return sample.by == By::kCgroup ? last_characters(name, room) : name;
}

std::vector<Cell> cells_of(const Usage& row, const Sample& sample, std::size_t columns) {
  const bool wide = columns >= kWide;
  const bool processes = sample.by == By::kProcess;
  std::vector<Cell> cells{
      fmt::format("{}", processes ? static_cast<std::uint64_t>(row.pid.value_or(0)) : row.processes)};
  if (wide && processes) cells.emplace_back(first_characters(row.user.value_or("?"), 8));
  cells.emplace_back(a_second(wide ? row.minor_faults : row.all_faults(), sample));
  if (wide) cells.emplace_back(a_second(row.children_faults, sample));
  cells.emplace_back(a_second(row.zeroed_at_most_bytes, sample));
  cells.push_back(row.refilled_at_most_bytes ? Cell(a_second(*row.refilled_at_most_bytes, sample))
                                             : Cell::not_available());
  cells.emplace_back(row.fault_cpu_share);
  cells.emplace_back(static_cast<double>(row.cpu_ns) / 1e9 / std::max(sample.interval_s, 1e-9));
  cells.emplace_back(row.resident_bytes);
  if (processes) cells.emplace_back(row.huge_bytes);
  cells.emplace_back(shown_name(row, sample, columns));
  return cells;
}

std::string machine_line(const Sample& sample) {
  const Machine& machine = sample.machine;
  return fmt::format("machine: {} faults/s; allocated {}/s, in huge pages {}/s",
                     rate(machine.faults, sample, format_count), rate(machine.allocated_bytes, sample, format_size),
                     rate(machine.huge_zeroed_bytes, sample, format_size));
}

std::string unseen_line(const Sample& sample) {
  const Measured<double>& share = sample.machine.unseen_share;
  return fmt::format("unseen: {} of the machine's faults; ended children: {} faults/s; {} new tasks/s",
                     share ? format_percent(*share) : "n/a",
                     format_count(a_second(sample.machine.children_faults, sample)),
                     rate(sample.machine.started, sample, format_count));
}

}  // namespace

Lines top_lines(const Sample& sample, std::size_t columns) {
  const bool wide = columns >= kWide;
  const auto cut = [&](std::string line) { return first_characters(std::move(line), columns); };
  Lines lines;
  lines.head.push_back(cut(fmt::format("zerotax top {}: {}, {} began, {} ended; {} s", sample.time,
                                       format_counted(sample.processes, "process", "processes"), sample.begun,
                                       sample.ended, format_number(sample.interval_s))));
  lines.head.push_back(cut(machine_line(sample)));
  lines.head.push_back(cut(unseen_line(sample)));
  Table table(columns_of(sample, wide));
  for (const Usage& row : sample.rows) table.add(cells_of(row, sample, columns));
  std::istringstream text(table.text());
  std::getline(text, lines.heading);
  lines.heading = cut(lines.heading);
  for (std::string line; std::getline(text, line);) lines.rows.push_back(cut(line));
  lines.foot.push_back(cut(fmt::format("≤ at most, ~ estimated at {} a fault; own cost: {} of one CPU",
                                       sample.fault_cost_ns ? format_ns(*sample.fault_cost_ns) : "n/a",
                                       format_percent(sample.own.cpu_share))));
  if (sample.rows_left_out > 0) lines.foot.push_back(cut(format_counted(sample.rows_left_out, "more row")));
  for (const std::string& limit : sample.limits) lines.foot.push_back(cut("not seen: " + limit));
  return lines;
}

std::string top_text(const Sample& sample, std::size_t columns) {
  const Lines lines = top_lines(sample, columns);
  std::string text;
  const auto add = [&](const std::string& line) { text += line + '\n'; };
  for (const std::string& line : lines.head) add(line);
  add(lines.heading);
  for (const std::string& line : lines.rows) add(line);
  for (const std::string& line : lines.foot) add(line);
  return text;
}

}  // namespace zerotax::top
