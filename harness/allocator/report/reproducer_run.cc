#include "report/reproducer_run.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/names.h"
#include "files/output_file.h"
#include "os/child.h"
#include "run/debian_library.h"
#include "run/interrupt.h"
#include "run/probe_identity.h"

namespace zerotax::report {

namespace {

namespace fs = std::filesystem;

std::string ending(const ChildResult& result) {
  switch (result.end) {
    case ChildResult::End::kExited:
      return fmt::format("exit status {}", result.code);
    case ChildResult::End::kSignalled:
      return fmt::format("killed by signal {} ({})", result.code, ::strsignal(result.code));
    case ChildResult::End::kTimeout:
      return "not finished in a minute";
    default:
      return "not run to its end";
  }
}

}  // namespace

ReproducerProgram::ReproducerProgram(const CCompiler& compiler, const std::string& source) {
  write_file(folder_.file("reproducer.c"), source);
  compile_c(compiler, folder_.file("reproducer.c"), folder_.file("reproducer"));
}

ReproducerRun ReproducerProgram::run(const Allocator& allocator) const {
  ChildCommand command;
  command.program = folder_.file("reproducer");
  command.capture = true;
  // As whoever tries it will run it.
  command.fixed_layout = false;
  command.timeout = std::chrono::minutes(1);
  for (const auto& entry : allocator.env) command.environment.emplace_back(entry);
  if (allocator.preload) command.environment.emplace_back("LD_PRELOAD", *allocator.preload);
  use_own_libraries(command, allocator.preload);
  const ChildResult result = run_child(command, stop_requested);
  end_if_stopped();
  const bool exited = result.end == ChildResult::End::kExited;
  const std::string ended = ending(result);
  ReproducerRun run{allocator.name, allocator.version, {},           allocator.env, result.code,
                    ended,          result.output,     result.errors};
  if (allocator.version.empty()) run.version = NotAvailable{"the library states no version and has no build-id"};
  if (allocator.preload) run.preload = *allocator.preload;
  if (!exited) run.exit_status = NotAvailable{ended};
  return run;
}

Allocator resolve_reproducer_allocator(const Allocator& allocator) {
  Allocator resolved = allocator;
  if (resolved.preload) return resolved;
  // Whose calloc it is.
  const std::string its = ask_probe(allocator).calloc_file;
  std::error_code failure;
  const fs::path library = fs::canonical(its, failure);
  if (failure) {
    throw MachineError(fmt::format("the library of {} is not where its probe says ({})", allocator.name, its),
                       fmt::format("give its path, as in --allocator {}=PATH", allocator.name));
  }
  const std::string name = file_name(library.string());
  if (!name.starts_with("libc.so") && !name.starts_with("libc-")) resolved.preload = library.string();
  return resolved;
}

}  // namespace zerotax::report
