#pragma once

#include <string>
#include <vector>

namespace zerotax {

/// A case that is a program of its own, not a case of the probes: it has its own command.
struct OwnCommand {
  const char* name;     ///< of the case
  const char* command;  ///< as in "zerotax COMMAND"
  const char* summary;
};

const std::vector<OwnCommand>& own_commands();

/// Throws UsageError if a case is one of them: then it names the command.
void check_has_no_own_command(const std::string& case_name);

}  // namespace zerotax
