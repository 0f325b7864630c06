#include "programs/measure.h"

#include <fmt/format.h>

#include <optional>

#include "base/error.h"
#include "os/busy_cpus.h"
#include "programs/document.h"

namespace zerotax::programs {

void check_exit_status(const CommandRun& run, const std::string& name, int expected, const std::string& remedy) {
  if (run.exit_status == expected) return;
  const std::string how = run.exit_status == 0 ? "ended with exit status 0" : run.notes.front();
  throw UsageError(fmt::format("'{}' {}{}", name, how, expected == 0 ? "" : fmt::format(", not {}", expected)), remedy);
}

Program measured(const Command& command, const Measuring& measuring, const Runner& run) {
  Program program;
  static_cast<Command&>(program) = command;
  std::string allocator;
  gather(
      program,
      [&] {
        // Each third run is beside busy threads: what a program does in a given time depends on who else runs.
        std::optional<BusyCpus> busy;
        if (program.runs % 3 == 2) busy.emplace();
        CommandRun found = run();
        if (!measuring.allow_failing) {
          check_exit_status(found, command.name, 0,
                            "give a command that succeeds without a terminal and input, or add --allow-failing");
        }
        allocator = found.allocator;
        if (measuring.notes != nullptr) *measuring.notes = found.notes;
        return found;
      },
      measuring.most_runs);
  program.measured_on = conditions_now(allocator);
  return program;
}

}  // namespace zerotax::programs
