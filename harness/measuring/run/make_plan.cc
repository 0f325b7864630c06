#include "run/make_plan.h"

#include <fmt/format.h>

#include <set>

#include "base/error.h"
#include "base/nearest.h"
#include "base/size.h"
#include "run/probe_identity.h"

namespace zerotax {
std::uint64_t memory_needed(const PointSpec& point) {
  const auto known = known_cases().find(point.case_name);
  const double blocks = known != known_cases().end() ? known->second.memory : 1;
  return static_cast<std::uint64_t>(static_cast<double>(point.size_bytes) * blocks);
}

void check_axes(const PlanAxes& axes) {
  const auto& known = known_cases();
  for (const std::string& name : axes.cases) {
    if (known.contains(name)) continue;
    if (name == "fork_snapshot") {
      throw UsageError("the case 'fork_snapshot' has a command of its own",
                       "run zerotax snapshot (zerotax snapshot --help)");
    }
    std::vector<std::string> names;
    names.reserve(known.size());
    for (const auto& entry : known) names.push_back(entry.first);
    refuse_word(fmt::format("unknown case '{}'", name), name, names);
  }
  for (const std::uint64_t size : axes.sizes) {
    if (size > 0 && size < kAddressSpaceBytes) continue;
    throw UsageError(fmt::format("invalid size of {} bytes", size), "give a size from 1 byte to less than 128 TiB");
  }
  for (const double touch : axes.touches) {
    if (touch >= 0 && touch <= 1) continue;
    throw UsageError(fmt::format("invalid --touch {:g}", touch), "give a number from 0 to 1");
  }
  for (const std::string& thread : axes.threads) {
    check_word("thread", thread, {"main", "worker"});
  }
}

void add_points(Plan& plan, const PlanAxes& axes, const Repeats& repeats) {
  std::set<std::string> there;
  for (const PointSpec& point : plan.points) there.insert(point_key(plan, point));
  for (const std::uint64_t size : axes.sizes) {
    for (const std::string& case_name : axes.cases) {
      for (const std::string& thread : axes.threads) {
        for (const double touch : axes.touches) {
          for (std::size_t i = 0; i < plan.allocators.size(); ++i) {
            const PointSpec point{i, case_name, size, touch, thread, repeats};
            if (there.insert(point_key(plan, point)).second) plan.points.push_back(point);
          }
        }
      }
    }
  }
}

}  // namespace zerotax
