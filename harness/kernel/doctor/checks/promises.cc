#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/units.h"
#include "contract/document.h"
#include "doctor/check.h"

namespace zerotax::doctor {
namespace {

/// What our own figures and largecache rest on, without what takes long: races, and a mapping more than is allowed.
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
  return {fmt::format("broken: {}", fmt::join(broken, ", ")), Weight::kSpoils,
          "memory is not zero where allocators and zerotax rely on it: metrics may be wrong, and programs too",
          fmt::format("zerotax contract --promise {}", fmt::join(broken, " --promise "))};
}
const Check promises(Topic::kKernel, "promises of zeros", look_at_promises);

}  // namespace
}  // namespace zerotax::doctor
