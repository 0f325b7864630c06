#include "upstream/reproducer_run.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/names.h"
#include "core/interrupt.h"
#include "core/output_file.h"
#include "core/probe_identity.h"
#include "os/child.h"

namespace zerotax::upstream {

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
  const ChildResult result = run_child(command, stop_requested);
  ReproducerRun run{allocator.name, allocator.version, allocator.preload, allocator.env, {},
                    ending(result), result.output,     result.errors};
  if (result.end == ChildResult::End::kExited) run.exit_status = result.code;
  return run;
}

Allocator resolve_reproducer_allocator(const Allocator& allocator) {
  Allocator resolved = allocator;
  if (resolved.preload) return resolved;
  const auto answer = ask_probe(allocator);
  std::error_code failure;
  const fs::path library = fs::canonical(answer.at("calloc"), failure);
  if (failure) {
    throw MachineError(
        fmt::format("the library of {} is not where its probe says ({})", allocator.name, answer.at("calloc")),
        fmt::format("give its path, as in --allocator {}=PATH", allocator.name));
  }
  const std::string name = file_name(library.string());
  if (!name.starts_with("libc.so") && !name.starts_with("libc-")) resolved.preload = library.string();
  return resolved;
}

Json reproducer_run_json(const ReproducerRun& run) {
  Json json;
  json["allocator"] = run.allocator;
  json["version"] =
      run.version.empty() ? not_available("the library states no version and has no build-id") : Json(run.version);
  json["preload"] = run.preload ? Json(*run.preload) : Json(nullptr);
  json["env"] = Json::object();
  for (const auto& [key, value] : run.env) json["env"][key] = value;
  json["exit_status"] = run.exit_status ? Json(*run.exit_status) : not_available(run.ended);
  json["output"] = run.output;
  return json;
}

}  // namespace zerotax::upstream
