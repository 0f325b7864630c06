#include "cli/next_step.h"

#include <fmt/format.h>

#include "base/one_line.h"
#include "os/print.h"
#include "os/terminal.h"

namespace zerotax {

void say_next(const std::string& command) {
  if (command.empty() || !is_terminal(stderr)) return;
  std::fflush(stdout);  // which may be the same terminal
  try_to_print(stderr, fmt::format("next: {}\n", one_line(command)));
}

}  // namespace zerotax
