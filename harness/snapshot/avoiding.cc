#include "snapshot/avoiding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/units.h"
#include "base/wrap.h"
#include "os/page.h"
#include "snapshot/document.h"

namespace zerotax::snapshot {
namespace {

std::string bullet(const std::string& text) { return wrap("- " + text, "", "  "); }

const Json& result_of(const Json& snapshot, const std::string& allocator, const std::string& alternative) {
  const Json& results = snapshot.at("results");
  return *std::find_if(results.begin(), results.end(), [&](const Json& result) {
    return result.at("allocator") == allocator && result.at("alternative") == alternative;
  });
}

std::string described(const Json& result) {
  const Json& slowdown = result.at("slowdown");
  std::string text = fmt::format("{} (", result.at("alternative").get<std::string>());
  if (!is_not_available(slowdown)) text += fmt::format("{:.2f} times the time without, ", slowdown.get<double>());
  text += fmt::format("stopped for {}", format_ns(result.at("stopped_ns").at("median")));
  if (!is_not_available(result.at("memory"))) text += ", +" + format_size(added_bytes(result));
  return text + ")";
}

/// An alternative that is best in several ways is listed once.
std::string recommended(const Json& snapshot, const Json& advice) {
  const std::vector<std::pair<const char*, const char*>> ways{
      {"least_time", "least time for the writers"},
      {"shortest_stop", "shortest stop"},
      {"least_memory", "least memory"},
      {"least_time_with_child", "least time for the writers with a forked child"},
      {"no_faults_after_end", "no faults after the child's end"}};
  std::vector<std::pair<std::string, std::string>> praised;  // an alternative, and for what
  for (const auto& [key, words] : ways) {
    const Json& name = advice.at(key);
    if (is_not_available(name)) continue;
    const auto found =
        std::find_if(praised.begin(), praised.end(), [&](const auto& each) { return each.first == name; });
    if (found == praised.end()) {
      praised.emplace_back(name, words);
    } else {
      found->second += fmt::format(", {}", words);
    }
  }
  std::string text;
  for (const auto& [name, praises] : praised) {
    text += bullet(fmt::format("{}: {}", praises, described(result_of(snapshot, advice.at("allocator"), name))));
  }
  return text;
}

std::string nothing_better(const Json& advice) {
  const Json& base = advice.at("instead_of");
  return bullet(is_not_available(base)
                    ? "Nothing was measured that it could be compared with."
                    : fmt::format("Nothing that was measured is clearly better than {}.", base.get<std::string>()));
}

std::string copied_pages(const Json& snapshot, const std::string& allocator) {
  std::string copies;
  for (const Json& result : snapshot.at("results")) {
    if (result.at("allocator") != allocator || !took_snapshot(result)) continue;
    const Json& faults = result.at("faults");
    if (is_not_available(faults)) continue;
    const auto count = faults.at("before_end").at("copies").get<std::uint64_t>() +
                       faults.at("after_end").at("copies").get<std::uint64_t>();
    copies += fmt::format("{}{} {} ({})", copies.empty() ? "" : ", ", result.at("alternative").get<std::string>(),
                          format_count(count), format_size(count * kPageBytes));
  }
  return copies.empty() ? "" : bullet("Pages that the kernel copied for the parent: " + copies + ".");
}

}  // namespace

std::string how_to_avoid(const Json& snapshot, const std::string& allocator) {
  for (const Json& advice : snapshot.at("advice")) {
    if (advice.at("allocator") != allocator) continue;
    std::string text = recommended(snapshot, advice);
    if (text.empty()) text = nothing_better(advice);
    for (const Json& next : advice.at("next")) {
      text += bullet(fmt::format("To measure {}:", next.at("measures").get<std::string>())) +
              fmt::format("      {}\n", next.at("command").get<std::string>());
    }
    return text + copied_pages(snapshot, allocator);
  }
  return "";
}

}  // namespace zerotax::snapshot
