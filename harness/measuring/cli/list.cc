#include <fmt/format.h>

#include "cli/subcommand.h"
#include "os/print.h"
#include "run/allocators.h"
#include "run/probe_identity.h"

namespace zerotax {
namespace {

ExitStatus list() {
  print_text("allocators (--allocator NAME; any other by --allocator NAME=PATH)\n");
  for (const BuiltinAllocator& builtin : builtin_allocators()) {
    if (!builtin.missing.empty()) {
      print_text("  {:<12} not in this build: {}\n", builtin.name, builtin.missing);
      continue;
    }
    const Allocator allocator = resolve_allocators({builtin.name}, {}).front();
    print_text("  {:<12} {}\n", builtin.name, allocator.version);
  }
  print_text("\ncases (--case NAME)\n");
  for (const auto& [name, known] : known_cases()) print_text("  {:<22} {}\n", name, known.summary);
  print_text("\na case with a command of its own\n  {:<22} {}\n", "fork_snapshot",
             "a snapshot of an array by a forked child, and seven alternatives (zerotax snapshot)");
  return ExitStatus::kDone;
}

const Subcommand command("list", Wing::kMeasuring, "show the allocators and cases that can be measured here",
                         "  zerotax list\n", [](Arguments&) -> std::function<ExitStatus()> { return list; });

}  // namespace
}  // namespace zerotax
