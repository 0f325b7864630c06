#include <fmt/format.h>

#include "cli/subcommand.h"
#include "run/allocators.h"
#include "run/own_commands.h"
#include "run/probe_identity.h"

namespace zerotax {
namespace {

ExitStatus list() {
  fmt::print("allocators (--allocator NAME; any other by --allocator NAME=PATH)\n");
  for (const BuiltinAllocator& builtin : builtin_allocators()) {
    if (!builtin.missing.empty()) {
      fmt::print("  {:<12} not in this build: {}\n", builtin.name, builtin.missing);
      continue;
    }
    const Allocator allocator = resolve_allocators({builtin.name}, {}).front();
    fmt::print("  {:<12} {}\n", builtin.name, allocator.version);
  }
  fmt::print("\ncases (--case NAME)\n");
  for (const auto& [name, known] : known_cases()) fmt::print("  {:<22} {}\n", name, known.summary);
  fmt::print("\ncases with a command of their own\n");
  for (const OwnCommand& own : own_commands()) {
    fmt::print("  {:<22} {} (zerotax {})\n", own.name, own.summary, own.command);
  }
  return ExitStatus::kDone;
}

const Subcommand command("list", Question::kMachine, "show the allocators and cases that can be measured here",
                         "  zerotax list\n", [](Arguments&) -> std::function<ExitStatus()> { return list; });

}  // namespace
}  // namespace zerotax
