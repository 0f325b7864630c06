#include "run/helper_program.h"

#include <fmt/format.h>

#include "base/error.h"
#include "files/temporary_folder.h"
#include "os/machine_trouble.h"
#include "run/child_verdict.h"
#include "run/interrupt.h"

namespace zerotax {

ChildResult run_helper(const HelperCommand& command) {
  end_if_stopped();
  const TemporaryFolder folder("helper");
  ChildCommand child;
  child.program = "/usr/bin/env";  // env searches PATH
  child.arguments = {command.program};
  child.arguments.insert(child.arguments.end(), command.arguments.begin(), command.arguments.end());
  child.environment = command.environment;
  child.environment.emplace_back("TMPDIR", folder.path());
  child.capture = true;
  child.fixed_layout = false;
  child.timeout = command.timeout;
  ChildResult result = run_child(child, stop_requested);
  end_if_stopped();
  if (result.end == ChildResult::End::kExited) return result;
  if (result.end == ChildResult::End::kNotStarted) throw start_trouble(command.program, result, "");
  throw_if_limited(result, fmt::format("{}: {}", command.program, how_it_ended(result, command.timeout)));
  throw MachineError(fmt::format("{}: {}", command.program, how_it_ended(result, command.timeout)),
                     "try again; see whether it runs by itself, and whether memory is short (dmesg)");
}

}  // namespace zerotax
