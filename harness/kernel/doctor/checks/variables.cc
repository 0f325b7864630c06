#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>
#include <vector>

#include "doctor/check.h"

namespace zerotax::doctor {
namespace {

/// Variables that allocators and the loader read: a measured process inherits them.
constexpr std::array<std::string_view, 11> kPrefixes{"LD_PRELOAD", "LD_AUDIT",  "GLIBC_TUNABLES", "MALLOC_",
                                                     "MIMALLOC_",  "TCMALLOC_", "SCUDO_OPTIONS",  "TBB_MALLOC_",
                                                     "TBBMALLOC_", "JEMALLOC_", "LARGECACHE_"};

Finding look_at_variables(const Machine& machine) {
  const Reading environment = machine.text("/proc/self/environ");
  if (!environment) return unknown(environment.why);
  std::vector<std::string> found;
  std::istringstream entries(*environment.text);
  for (std::string entry; std::getline(entries, entry, '\0');) {
    const bool read = std::any_of(kPrefixes.begin(), kPrefixes.end(),
                                  [&](std::string_view prefix) { return entry.starts_with(prefix); });
    const auto equals = entry.find('=');
    if (read && equals != std::string::npos && equals + 1 < entry.size()) found.push_back(entry.substr(0, equals));
  }
  if (found.empty()) return {"nothing that allocators read", Weight::kOk, "", ""};
  return {
      fmt::format("{}", fmt::join(found, ", ")), Weight::kSpoils,
      "every metric: measured processes inherit them, and the results do not record that (--env NAME:KEY=VALUE does)",
      fmt::format("unset {}", fmt::join(found, " "))};
}

const Check variables_check(Topic::kZerotax, "environment", look_at_variables);

}  // namespace
}  // namespace zerotax::doctor
