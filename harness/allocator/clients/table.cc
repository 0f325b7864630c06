#include "clients/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/one_line.h"
#include "base/printable.h"
#include "base/table.h"
#include "base/units.h"

namespace zerotax::clients {
namespace {

std::string label(const Point& point) {
  constexpr std::size_t kLongest = 14;
  std::string text = point.allocator;
  for (const auto& [key, value] : point.env) text += fmt::format(" {}={}", key, value);
  return first_characters(printable(text), kLongest);
}

void add_row(Table& table, const Point& point, const std::vector<Client>& clients,
             const std::vector<ClientResult>& results) {
  const auto of_case = point.number(Metric::kMbPerS);
  std::vector<Cell> cells{label(point), of_case ? Cell(*of_case) : Cell::not_available()};
  for (const Client& client : clients) {
    const auto found = std::find_if(results.begin(), results.end(), [&](const ClientResult& result) {
      return result.allocator == point.allocator && result.client == client.name &&
             result.size_bytes == point.size_bytes;
    });
    if (found == results.end()) {
      cells.emplace_back();
    } else {
      cells.push_back(found->rates ? Cell(found->rates->mb_per_s) : Cell::not_available());
    }
  }
  table.add(std::move(cells));
}

/// Two lines of headings.
Table empty_table(const std::vector<Client>& clients) {
  std::vector<Column> columns{{"", Unit::kText, 14}, {"the case", Unit::kNumber, 8, "n/a", {}, 0}};
  std::vector<Cell> below{"allocator", "in C++"};
  for (const Client& client : clients) {
    const std::size_t blank = client.heading.find(' ');
    columns.push_back({client.heading.substr(0, blank), Unit::kNumber, 8, "n/a", {}, 0});
    below.emplace_back(client.heading.substr(blank + 1));
  }
  Table table(std::move(columns));
  table.add(std::move(below));
  return table;
}

}  // namespace

std::string clients_table(const std::vector<Client>& clients, const std::vector<Point>& points,
                          const std::vector<ClientResult>& results) {
  std::string text;
  for (std::size_t i = 0; i < points.size();) {
    const std::uint64_t size = points[i].size_bytes;
    Table table = empty_table(clients);
    for (; i < points.size() && points[i].size_bytes == size; ++i) add_row(table, points[i], clients, results);
    text += fmt::format("{}MB/s received into buffers of {}\n", text.empty() ? "" : "\n", format_size(size));
    text += table.text();
  }
  Table legend({{"", Unit::kText, 14}, {"", Unit::kText, 0, "", {}, 0}});
  for (const Client& client : clients) {
    legend.add({client.heading, fmt::format("{}: {}", client.name, client.summary)});
  }
  text += "\n" + legend.text(false);
  // Why there are no rates, each reason once: a missing module is the same for every allocator.
  std::set<std::string> told;
  const auto tell = [&](const std::string& allocator, const std::string& what, PointStatus status,
                        const std::string& reason) {
    const std::string line = fmt::format("{}: {}: {}\n", what, word_of(status), reason);
    if (status == PointStatus::kOk || !told.insert(line).second) return;
    text += status == PointStatus::kSkipped ? line : allocator + " " + line;
  };
  for (const Point& point : points) tell(point.allocator, point.case_name, point.status, point.reason.value_or(""));
  for (const ClientResult& result : results) {
    tell(result.allocator, result.client, result.status, result.reason.value_or(""));
  }
  return text;
}

}  // namespace zerotax::clients
