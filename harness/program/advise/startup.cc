#include "advise/startup.h"

#include <algorithm>
#include <limits>

#include "os/elf_file.h"
#include "run/metered_run.h"

namespace zerotax::advise {
namespace {

constexpr unsigned kPairs = 20;

}  // namespace

std::optional<double> startup_cost_ms(const TargetRunner::Variables& variables) {
  const std::string program = find_program("true");
  if (program.empty() || !why_not_preloadable(program).empty()) return std::nullopt;
  MeteredCommand plain;
  plain.program = program;
  plain.words = {"true"};
  MeteredCommand changed = plain;
  changed.environment.assign(variables.begin(), variables.end());
  // The fastest of each: whatever else happens on the machine only makes a run slower.
  double fastest_plain = std::numeric_limits<double>::infinity();
  double fastest_changed = fastest_plain;
  for (unsigned pair = 0; pair < kPairs; ++pair) {
    for (const bool is_changed : {pair % 2 == 0, pair % 2 != 0}) {
      const MeteredRun run = run_metered(is_changed ? changed : plain);
      if (run.end != MeteredRun::End::kEnded || !run.exited || run.code != 0) return std::nullopt;
      double& fastest = is_changed ? fastest_changed : fastest_plain;
      fastest = std::min(fastest, static_cast<double>(run.wall_ns) / 1e6);
    }
  }
  return fastest_changed - fastest_plain;
}

}  // namespace zerotax::advise
