#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "contract/result.h"
#include "doctor/check.h"
#include "point/plan.h"
#include "run/probe_identity.h"

namespace zerotax::doctor {
namespace {

Finding look_at_probe(const Machine& machine) {
  if (!machine.is_this()) return not_asked();
  try {
    const std::size_t cases = known_cases().size();
    return {"starts, with " + format_counted(static_cast<std::uint64_t>(cases), "case"), Weight::kOk, "", ""};
  } catch (const Error& failure) {
    return {NotAvailable{failure.what()}, Weight::kStops, "every command that measures an allocator", failure.remedy()};
  }
}
const Check probe(Topic::kZerotax, "probe", look_at_probe);

Finding look_at_proc(const Machine& machine) {
  const Reading status = machine.line("/proc/self/status");
  if (status) return {"mounted", Weight::kOk, "", ""};
  return {NotAvailable{status.why}, Weight::kStops,
          "every command that measures an allocator; programs cannot be recorded or watched either",
          "mount -t proc proc /proc"};
}
const Check proc(Topic::kKernel, "/proc", look_at_proc);

/// Whether zerotax's metrics or largecache rest on the promise, and its test is quick. Races, tests of merging, and
/// tests of the limit on mappings take long.
bool is_ours(const contract::Promise& promise) {
  if (promise.family == "races" || promise.id == "enomem-mappings" || promise.id == "ksm-keeps") return false;
  return std::any_of(promise.relied_on_by.begin(), promise.relied_on_by.end(),
                     [](const contract::Reliance& one) { return one.who == "zerotax" || one.who == "largecache"; });
}

Finding look_at_promises(const Machine& machine) {
  if (!machine.is_this()) return not_asked();
  std::vector<contract::Promise> ours = contract::list_promises();
  std::erase_if(ours, [](const contract::Promise& each) { return !is_ours(each); });
  const contract::Results found = contract::test_promises(ours, 0.01, {});
  std::vector<std::string> broken;
  for (const contract::Result& each : found.results) {
    if (each.verdict == contract::Verdict::kBroken) broken.push_back(each.promise.id);
  }
  const std::size_t kept = contract::count(found.results, contract::Verdict::kKept);
  if (broken.empty()) return {fmt::format("{} kept", format_counted(kept, "promise")), Weight::kOk, "", ""};
  return {
      fmt::format("broken: {}", fmt::join(broken, ", ")), Weight::kSpoils,
      "memory is not zero where allocators and zerotax expect zeros, so metrics may be wrong, and programs may fail",
      fmt::format("zerotax contract --promise {}", fmt::join(broken, " --promise "))};
}
const Check promises(Topic::kKernel, "promises of zeros", look_at_promises);

/// Prefixes of variables that allocators and the loader read. A measured process inherits these variables.
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
  if (found.empty()) return {"no variable that allocators read", Weight::kOk, "", ""};
  return {fmt::format("{}", fmt::join(found, ", ")), Weight::kSpoils,
          "every metric: measured processes inherit these variables, but the results do not record them (use "
          "--env NAME:KEY=VALUE, which is recorded)",
          fmt::format("unset {}", fmt::join(found, " "))};
}

const Check variables_check(Topic::kZerotax, "environment", look_at_variables);

}  // namespace
}  // namespace zerotax::doctor
