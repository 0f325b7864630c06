#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/names.h"
#include "base/size.h"
#include "base/units.h"
#include "base/wrap.h"
#include "cow/document.h"

namespace zerotax::cow {
namespace {

constexpr std::size_t kRows = 8;

std::uint64_t number(const Json& counts, const char* key) { return counts.at(key).get<std::uint64_t>(); }

std::string row(const Json& counts, const std::string& what) {
  return fmt::format("{:>9} {:>9} {:>10} {:>8} {:>7} {:>10}  {}\n", number(counts, "copies"), number(counts, "reuses"),
                     number(counts, "zero_fills"), number(counts, "file_faults"), number(counts, "other"),
                     format_size(number(counts, "copied_bytes")), what);
}

std::string header(const char* what) {
  return fmt::format("{:>9} {:>9} {:>10} {:>8} {:>7} {:>10}  {}\n", "copies", "reuses", "zero-fills", "file", "other",
                     "copied", what);
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

/// Those with the most copies, then reuses.
void sort_by_copies(std::vector<std::pair<std::string, Json>>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const auto& one, const auto& other) {
    return std::pair(number(one.second, "copies"), number(one.second, "reuses")) >
           std::pair(number(other.second, "copies"), number(other.second, "reuses"));
  });
}

std::string top(const char* what, std::vector<std::pair<std::string, Json>> rows) {
  std::erase_if(
      rows, [](const auto& each) { return number(each.second, "copies") == 0 && number(each.second, "reuses") == 0; });
  if (rows.empty()) return "";
  sort_by_copies(rows);
  std::string text = "\n" + header(what);
  for (std::size_t i = 0; i < std::min(rows.size(), kRows); ++i) text += row(rows[i].second, rows[i].first);
  if (rows.size() > kRows) text += fmt::format("{:>9} more\n", rows.size() - kRows);
  return text;
}

}  // namespace

std::string cow_text(const Json& cow) {
  const Json& totals = cow.at("totals");
  const auto command = cow.at("command").get<std::vector<std::string>>();
  std::string text = wrap(command.empty() ? fmt::format("process {}", cow.at("pid").get<int>())
                                          : fmt::format("{}", fmt::join(command, " ")),
                          "", "  ");
  text += wrap(fmt::format("{} copied ({}), {} reused, {} zero-filled, {}, in {:.3g} s; counted: {}; {}",
                           format_counted(number(totals, "copies"), "page"),
                           format_size(number(totals, "copied_bytes")), number(totals, "reuses"),
                           number(totals, "zero_fills"), format_counted(number(totals, "file_faults"), "file fault"),
                           cow.at("wall_s").get<double>(), cow.at("counted").get<std::string>(),
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
