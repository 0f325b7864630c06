#include "run/own_commands.h"

#include <fmt/format.h>

#include "base/error.h"

namespace zerotax {

const std::vector<OwnCommand>& own_commands() {
  static const std::vector<OwnCommand> all{
      {"fork_snapshot", "snapshot", "a snapshot of an array by a forked child, and seven alternatives"},
  };
  return all;
}

void check_has_no_own_command(const std::string& case_name) {
  for (const OwnCommand& own : own_commands()) {
    if (case_name != own.name) continue;
    throw UsageError(fmt::format("the case '{}' has a command of its own", case_name),
                     fmt::format("run zerotax {} (zerotax {} --help)", own.command, own.command));
  }
}

}  // namespace zerotax
