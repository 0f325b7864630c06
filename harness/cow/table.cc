#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/names.h"
#include "base/size.h"
#include "base/units.h"
#include "base/wrap.h"
#include "cow/document.h"
#include "observe/interpreter.h"

namespace zerotax::cow {
namespace {

constexpr std::size_t kRows = 8;
/// What puts a row into a table, and orders it: faults that copied or zeroed, or might have. All processes read files.
constexpr const char* kTold[] = {"copies", "reuses", "zero_fills"};

std::uint64_t number(const Json& counts, const char* key) { return counts.at(key).get<std::uint64_t>(); }

std::string cell(const Json& counts, const char* key) {
  return counts.contains(key) ? format_count(number(counts, key)) : "n/a";  // of an earlier version
}

std::string row(const Json& counts, const std::string& what) {
  return fmt::format("{:>9} {:>8} {:>10} {:>8} {:>7} {:>6} {:>9}  {}\n", cell(counts, "copies"), cell(counts, "reuses"),
                     cell(counts, "zero_fills"), cell(counts, "refills"), cell(counts, "file_faults"),
                     cell(counts, "other"), format_size(number(counts, "copied_bytes")), what);
}

std::string header(const char* what) {
  return fmt::format("{:>9} {:>8} {:>10} {:>8} {:>7} {:>6} {:>9}  {}\n", "copies", "reuses", "zero-fills", "refills",
                     "file", "other", "copied", what);
}

std::string mapping_label(const Json& mapping) {
  const auto kind = mapping.at("kind").get<std::string>();
  const auto begin = mapping.at("begin").get<std::uint64_t>();
  const auto end = mapping.at("end").get<std::uint64_t>();
  if (kind == "file") return file_name(mapping.at("name").get<std::string>());
  if (kind == "anonymous") return fmt::format("anonymous {:#x} ({})", begin, format_size(end - begin));
  if (kind == "unknown") return "unknown";
  return fmt::format("{} ({})", kind == "special" ? mapping.at("name").get<std::string>() : kind,
                     format_size(end - begin));
}

std::uint64_t told(const Json& counts) {
  return std::accumulate(std::begin(kTold), std::end(kTold), std::uint64_t{0},
                         [&](std::uint64_t sum, const char* key) { return sum + number(counts, key); });
}

std::string top(const char* what, std::vector<std::pair<std::string, Json>> rows) {
  std::erase_if(rows, [](const auto& each) { return told(each.second) == 0; });
  if (rows.empty()) return "";
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& one, const auto& other) { return told(one.second) > told(other.second); });
  std::string text = "\n" + header(what);
  for (std::size_t i = 0; i < std::min(rows.size(), kRows); ++i) text += row(rows[i].second, rows[i].first);
  if (rows.size() > kRows) text += fmt::format("{:>9} more\n", format_count(rows.size() - kRows));
  return text;
}

/// Where some faults are put down to the interpreter for want of a stack.
std::string stacks_line(const Json& cow) {
  if (!cow.contains("stacks") || is_not_available(cow.at("stacks"))) return "";
  const Json& stacks = cow.at("stacks");
  const std::uint64_t missing = number(stacks, "lost") + number(stacks, "skipped");
  if (missing == 0) return "";
  return wrap(
      fmt::format("! {} in user mode have no stack: they are put down to the function that took them, such as the "
                  "interpreter's, and not to the script's",
                  format_counted(missing, "fault")),
      "", "  ");
}

}  // namespace

std::string cow_text(const Json& cow) {
  const Json& totals = cow.at("totals");
  const auto command = cow.at("command").get<std::vector<std::string>>();
  std::string text = wrap(command.empty() ? fmt::format("process {}", cow.at("pid").get<int>())
                                          : fmt::format("{}", fmt::join(command, " ")),
                          "", "  ");
  const bool refills = totals.contains("refills") && number(totals, "refills") > 0;
  const std::string again = refills ? fmt::format(" ({} of them again)", cell(totals, "refills")) : std::string();
  text +=
      wrap(fmt::format("{} copied ({}), {} reused, {} zero-filled{}, {}, in {:.3g} s; counted: {}; {}",
                       format_counted(number(totals, "copies"), "page"), format_size(number(totals, "copied_bytes")),
                       cell(totals, "reuses"), cell(totals, "zero_fills"), again,
                       format_counted(number(totals, "file_faults"), "file fault"), cow.at("wall_s").get<double>(),
                       cow.at("counted").get<std::string>(),
                       cow.at("method") == "tracepoints"
                           ? "by tracepoints, every fault"
                           : "by software events, as an ordinary user: faults in user mode, classified by which "
                             "processes share each page"),
           "", "  ");
  if (number(totals, "lost") > 0) {
    text += wrap(fmt::format("! {} lost, because the per-CPU buffer of {} was full: the counts are too low; give "
                             "a larger --buffer{}",
                             format_counted(number(totals, "lost"), "event"), format_size(number(cow, "buffer_bytes")),
                             cow.at("method") == "tracepoints" ? "" : ", or watch as root"),
                 "", "  ");
  }
  text += script_names_lines(cow) + stacks_line(cow);
  std::vector<std::pair<std::string, Json>> processes;
  std::vector<std::pair<std::string, Json>> mappings;
  for (const Json& process : cow.at("processes")) {
    const auto pid = process.at("pid").get<int>();
    const bool child = process.at("parent").get<int>() != 0;
    processes.emplace_back(
        fmt::format("{} {} {}", child ? "child" : "parent", pid, process.at("name").get<std::string>()),
        process.at("counts"));
    for (const Json& mapping : process.at("mappings")) {
      mappings.emplace_back(fmt::format("{} of {}", mapping_label(mapping), pid), mapping.at("counts"));
    }
  }
  std::vector<std::pair<std::string, Json>> code;
  for (const Json& each : cow.at("code")) {
    const auto module = each.at("module").get<std::string>();
    code.emplace_back(each.at("function").get<std::string>() + (module.empty() ? "" : " (" + module + ")"),
                      each.at("counts"));
  }
  return text + top("process", processes) + top("mapping", mappings) + top("code", code);
}

}  // namespace zerotax::cow
