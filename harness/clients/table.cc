#include "clients/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/size.h"
#include "base/units.h"

namespace zerotax::clients {
namespace {

constexpr std::size_t kLabel = 16;

std::string rate(const Json& figure) { return figure.is_number() ? format_number(figure.get<double>()) : "n/a"; }

std::string label(const Json& entry) {
  std::string text = entry.at("allocator");
  for (const auto& [key, value] : entry.at("env").items()) text += fmt::format(" {}={}", key, value.get<std::string>());
  return text.substr(0, kLabel);
}

std::string row(const Json& point, const std::vector<Client>& clients, const std::vector<Json>& results) {
  const bool received = point.contains("transfer");
  std::string text = fmt::format("{:<16}{:>8}", label(point), received ? rate(point["transfer"]["mb_per_s"]) : "n/a");
  for (const Client& client : clients) {
    const auto found = std::find_if(results.begin(), results.end(), [&](const Json& result) {
      return result.at("allocator") == point.at("allocator") && result.at("client") == client.name &&
             result.at("size_bytes") == point.at("size_bytes");
    });
    text += fmt::format("{:>9}", found == results.end() ? "" : rate(found->at("mb_per_s")));
  }
  return text + "\n";
}

std::string reasons(const std::vector<Json>& entries, const char* what) {
  std::string text;
  std::set<std::string> told;
  for (const Json& entry : entries) {
    if (entry.at("status") == "ok") continue;
    // A missing module is the same for every allocator.
    const std::string line = fmt::format("{}: {}: {}\n", entry.at(what).get<std::string>(),
                                         entry.at("status").get<std::string>(), entry.at("reason").get<std::string>());
    if (told.insert(line).second) {
      text += entry.at("status") == "skipped" ? line : entry.at("allocator").get<std::string>() + " " + line;
    }
  }
  return text;
}

}  // namespace

std::string clients_table(const std::vector<Client>& clients, const std::vector<Json>& points,
                          const std::vector<Json>& results) {
  std::string text;
  std::uint64_t size = 0;
  for (const Json& point : points) {
    if (point.at("size_bytes") != size) {
      size = point.at("size_bytes");
      text += fmt::format("{}MB/s received into buffers of {}\n", text.empty() ? "" : "\n", format_size(size));
      for (const int line : {0, 1}) {
        text += fmt::format("{:<16}{:>8}", line == 0 ? "" : "allocator", line == 0 ? "the case" : "in C++");
        for (const Client& client : clients) text += fmt::format("{:>9}", client.heading[line]);
        text += "\n";
      }
    }
    text += row(point, clients, results);
  }
  text += "\n";
  for (const Client& client : clients) {
    const std::string heading = fmt::format("{} {}", client.heading[0], client.heading[1]);
    text += fmt::format("{:<16}{}: {}\n", heading, client.name, client.summary);
  }
  return text + reasons(points, "case") + reasons(results, "client");
}

}  // namespace zerotax::clients
