#include <fmt/format.h>

#include <algorithm>

#include "base/lines.h"
#include "base/shell.h"
#include "base/units.h"
#include "clients/clients.h"
#include "run/allocators.h"

namespace zerotax::clients {
namespace {

constexpr std::size_t kLongestName = 20;

/// One client at one size, under the allocators with its lowest and its highest rate.
struct Row {
  const ClientResult* slowest;
  const ClientResult* fastest;

  [[nodiscard]] double times() const { return *fastest->mb_per_s / std::max(*slowest->mb_per_s, 1e-9); }
  [[nodiscard]] bool is_compared() const { return slowest != fastest; }
};

/// Returns a row for each client and size with a rate. The largest difference between allocators comes first, and
/// without a difference the lowest rate.
std::vector<Row> rows_of(const Clients& clients) {
  std::vector<Row> rows;
  for (const ClientResult& result : clients.results) {
    if (!result.mb_per_s) continue;
    const auto known = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
      return row.slowest->client == result.client && row.slowest->size_bytes == result.size_bytes;
    });
    if (known == rows.end()) {
      rows.push_back({&result, &result});
    } else if (*result.mb_per_s < *known->slowest->mb_per_s) {
      known->slowest = &result;
    } else if (*result.mb_per_s > *known->fastest->mb_per_s) {
      known->fastest = &result;
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::pair(-a.times(), *a.slowest->mb_per_s) < std::pair(-b.times(), *b.slowest->mb_per_s);
  });
  return rows;
}

std::string name_of(const ClientResult& result) {
  std::string text = result.allocator;
  for (const auto& [key, value] : result.env) text += fmt::format(" {}={}", key, value);
  return first_characters(text, kLongestName);
}

std::string headline(const Clients& clients, const std::vector<Row>& rows) {
  if (rows.empty()) {
    const std::string why = clients.results.empty() ? "" : clients.results.front().reason.value_or("");
    return "No client was measured" + (why.empty() ? "." : fmt::format(". First: {}.", why));
  }
  const Row& worst = rows.front();
  std::string text = fmt::format("{} receives {} MB/s into buffers of {} under {}", worst.slowest->client,
                                 format_number(*worst.slowest->mb_per_s), format_given_size(worst.slowest->size_bytes),
                                 name_of(*worst.slowest));
  if (!worst.is_compared()) return text + ", the lowest rate.";
  return text + fmt::format(", and {} MB/s under {} ({} times as much).", format_number(*worst.fastest->mb_per_s),
                            name_of(*worst.fastest), format_ratio(worst.times()));
}

Table table_of(const std::vector<Row>& rows) {
  const bool is_compared = rows.front().is_compared();
  std::vector<Column> columns{{"client", Unit::kText, 19},
                              {"buffer", Unit::kText, 9},
                              {"MB/s", Unit::kNumber, 7},
                              {is_compared ? "lowest under" : "under", Unit::kText, 13, "", {}, 2}};
  if (is_compared) {
    columns.push_back({"MB/s", Unit::kNumber, 7});
    columns.push_back({"highest under", Unit::kText, 13, "", {}, 2});
  }
  Table table(std::move(columns));
  for (const Row& row : rows) {
    std::vector<Cell> cells{row.slowest->client, format_given_size(row.slowest->size_bytes), *row.slowest->mb_per_s,
                            name_of(*row.slowest)};
    if (is_compared) cells.insert(cells.end(), {*row.fastest->mb_per_s, name_of(*row.fastest)});
    table.add(std::move(cells));
  }
  return table;
}

std::string cost_text(const ClientResult& result) {
  const auto number = [](const Measured<double>& value) { return value ? format_number(*value) : "n/a"; };
  return fmt::format("{} s of CPU time per GB and {} page faults per MB", number(result.cpu_s_per_gb),
                     number(result.faults_per_mb));
}

std::string where(const Row& worst, const std::vector<Point>& points) {
  std::string text =
      fmt::format("under {}, {} takes {}", name_of(*worst.slowest), worst.slowest->client, cost_text(*worst.slowest));
  if (worst.is_compared()) text += fmt::format("; under {}, {}", name_of(*worst.fastest), cost_text(*worst.fastest));
  const auto same = std::find_if(points.begin(), points.end(), [&](const Point& point) {
    return point.allocator == worst.slowest->allocator && point.size_bytes == worst.slowest->size_bytes;
  });
  const auto rate = same == points.end() ? std::nullopt : same->number(Metric::kMbPerS);
  if (!rate) return text + ".";
  return text + fmt::format(". The case in C++ receives {} MB/s there.", format_number(*rate));
}

/// Returns the reasons for missing rates. The same reason of several allocators is listed once.
std::vector<std::string> warnings(const Clients& clients, const std::vector<Point>& points) {
  std::vector<std::string> all;
  const auto add = [&](const std::string& what, PointStatus status, const std::string& reason) {
    const std::string text = fmt::format("{} was {}: {}.", what, word_of(status), reason);
    const bool is_known = std::find(all.begin(), all.end(), text) != all.end();
    if (status != PointStatus::kOk && !is_known) all.push_back(text);
  };
  if (clients.state == Completion::kInterrupted) all.emplace_back("The run was interrupted, so clients are missing.");
  for (const ClientResult& result : clients.results) {
    const bool is_of_all = result.status == PointStatus::kSkipped;
    add(is_of_all ? result.client : result.client + " under " + name_of(result), result.status,
        result.reason.value_or(""));
  }
  for (const Point& point : points) {
    add("recv_buffer under " + point.allocator, point.status, point.reason.value_or(""));
  }
  return all;
}

}  // namespace

Answer clients_answer(const Clients& clients, const std::vector<Point>& points) {
  const std::vector<Row> rows = rows_of(clients);
  Answer answer{.headline = headline(clients, rows), .warnings = warnings(clients, points)};
  if (rows.empty()) return answer;
  const ClientResult& worst = *rows.front().slowest;
  answer.table = table_of(rows);
  answer.where = where(rows.front(), points);
  const bool has_path = worst.preload && !is_builtin(worst.allocator);
  const std::string allocator = has_path ? worst.allocator + "=" + *worst.preload : worst.allocator;
  answer.steps = {{shell_text({"zerotax", "run", "--case", "recv_buffer", "--allocator", allocator, "--size",
                               size_word(worst.size_bytes)}),
                   "see which calls zero the buffers:"}};
  answer.legend = "One run of each client, so rates vary. Not seen: causes outside the allocator, such as TLS.";
  answer.more = "All rates, and what each client does";
  return answer;
}

}  // namespace zerotax::clients
