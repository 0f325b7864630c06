#include "clients/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/size.h"
#include "base/units.h"

namespace zerotax::clients {
namespace {

constexpr std::size_t kLabel = 14;

std::string rate(std::optional<double> mb_per_s) { return mb_per_s ? format_number(*mb_per_s) : "n/a"; }

std::string label(const Point& point) {
  std::string text = point.allocator;
  for (const auto& [key, value] : point.env) text += fmt::format(" {}={}", key, value);
  return text.substr(0, kLabel);
}

std::string row(const Point& point, const std::vector<Client>& clients, const std::vector<ClientResult>& results) {
  std::string text = fmt::format("{:<14}{:>8}", label(point), rate(point.number(Metric::kMbPerS)));
  for (const Client& client : clients) {
    const auto found = std::find_if(results.begin(), results.end(), [&](const ClientResult& result) {
      return result.allocator == point.allocator && result.client == client.name &&
             result.size_bytes == point.size_bytes;
    });
    std::string cell;
    if (found != results.end()) cell = rate(found->rates ? std::optional(found->rates->mb_per_s) : std::nullopt);
    text += fmt::format("{:>8}", cell);
  }
  return text + "\n";
}

/// Why there are no rates, each reason once: a missing module is the same for every allocator.
class Reasons {
 public:
  void add(const std::string& allocator, const std::string& what, PointStatus status, const std::string& reason) {
    if (status == PointStatus::kOk) return;
    const std::string line = fmt::format("{}: {}: {}\n", what, word_of(status), reason);
    if (told_.insert(line).second) text_ += status == PointStatus::kSkipped ? line : allocator + " " + line;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::set<std::string> told_;
  std::string text_;
};

}  // namespace

std::string clients_table(const std::vector<Client>& clients, const std::vector<Point>& points,
                          const std::vector<ClientResult>& results) {
  std::string text;
  std::uint64_t size = 0;
  for (const Point& point : points) {
    if (point.size_bytes != size) {
      size = point.size_bytes;
      text += fmt::format("{}MB/s received into buffers of {}\n", text.empty() ? "" : "\n", format_size(size));
      for (const int line : {0, 1}) {
        text += fmt::format("{:<14}{:>8}", line == 0 ? "" : "allocator", line == 0 ? "the case" : "in C++");
        for (const Client& client : clients) text += fmt::format("{:>8}", client.heading[line]);
        text += "\n";
      }
    }
    text += row(point, clients, results);
  }
  text += "\n";
  for (const Client& client : clients) {
    const std::string heading = fmt::format("{} {}", client.heading[0], client.heading[1]);
    text += fmt::format("{:<14}{}: {}\n", heading, client.name, client.summary);
  }
  Reasons reasons;
  for (const Point& point : points) {
    reasons.add(point.allocator, point.case_name, point.status, point.reason.value_or(""));
  }
  for (const ClientResult& result : results) {
    reasons.add(result.allocator, result.client, result.status, result.reason);
  }
  return text + reasons.text();
}

}  // namespace zerotax::clients
