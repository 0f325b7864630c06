#include "run/program_launch.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "files/output_kind.h"
#include "os/elf_file.h"
#include "os/input_file.h"
#include "os/machine_trouble.h"
#include "run/allocators.h"
#include "run/debian_library.h"
#include "run/interrupt.h"
#include "run/probe_identity.h"

namespace zerotax {

namespace {

bool (*is_recorded)(const std::string& path) = nullptr;
std::string (*open_recording)(const std::string& path) = nullptr;

}  // namespace

bool read_recordings_by(bool (*is)(const std::string& path), std::string (*open)(const std::string& path)) {
  is_recorded = is;
  open_recording = open;
  return true;
}

bool is_recording(const std::string& command) { return is_recorded != nullptr && is_recorded(command); }

std::string resolve_program(const std::string& command) {
  if (is_recording(command)) return open_recording(command);
  std::string program = find_program(command);
  if (!program.empty()) return program;
  if (command.find('/') != std::string::npos) require_folder_of(command);
  throw UsageError(fmt::format("no command '{}' that can be executed", command),
                   "give a program on PATH, or a path with a slash");
}

std::vector<NamedPath> program_input(const std::vector<std::string>& words) {
  if (words.empty()) return {};
  const std::string& command = words.front();
  return {{"the program", is_recording(command) ? command : resolve_program(command)}};
}

void check_takes_preload(const std::string& program, const char* cannot) {
  const std::string why = why_not_preloadable(program);
  if (why.empty()) return;
  throw UsageError(
      fmt::format("'{}' cannot {}: it {}", program, cannot, why),
      "give a dynamically linked program for glibc and this machine that needs no extra privileges" +
          (why_outside_only(program).empty() ? std::string(", or sample it: zerotax profile -- COMMAND")
                                             : ", or watch this one from outside: zerotax record -- COMMAND"));
}

std::string project_library(const std::string& file) {
  std::error_code failure;
  const auto library =
      std::filesystem::weakly_canonical(std::filesystem::path(probe_folder()) / "../lib" / file, failure);
  if (!std::filesystem::exists(library, failure)) {
    throw MachineError(fmt::format("'{}' is missing", library.string()),
                       "build it with ./run build, or point ZEROTAX_PROBE_DIR at the folder of the probes");
  }
  check_preload_path(library.string(), "move the project to a path without them");
  return library.string();
}

std::optional<Allocator> resolve_program_allocator(const std::string& word, const std::vector<std::string>& env) {
  if (word.empty()) {
    if (env.empty()) return std::nullopt;
    throw UsageError("--env is given without --allocator",
                     "add --allocator NAME, or set the variable for zerotax itself");
  }
  Allocator allocator = resolve_allocators({word}, env).front();
  check_loads_here(allocator.preload);
  if (allocator.preload) return allocator;
  // A built-in allocator's library is what its probe is linked with.
  // What the user preloads would answer in its place.
  Allocator alone = allocator;
  alone.preload = "";
  const ProbeAnswer answer = ask_probe(alone);
  allocator.version = answer.version;
  std::error_code failure;
  allocator.preload = std::filesystem::canonical(answer.calloc_file, failure).string();
  if (failure) {
    throw MachineError(fmt::format("the library of {} is not where its probe says ({})", word, answer.calloc_file),
                       "give its path, as in --allocator " + word + "=PATH");
  }
  return allocator;
}

ForegroundCommand foreground_command(const std::string& program, const std::vector<std::string>& words,
                                     const std::string& library, const std::optional<Allocator>& allocator) {
  ForegroundCommand command;
  command.program = program;
  command.words = words;
  command.output_to_errors = output_rules().takes_standard_output;
  command.before_exec = restore_interrupts;
  std::string preload = library;
  const auto add = [&](const std::string& next) { preload += (preload.empty() ? "" : ":") + next; };
  if (allocator) {
    add(*allocator->preload);
    for (const auto& entry : allocator->env) command.environment.emplace_back(entry);
  }
  if (preload.empty()) return command;
  const char* before = std::getenv("LD_PRELOAD");
  if (before != nullptr && *before != '\0') add(before);
  command.environment.emplace_back("LD_PRELOAD", preload);
  return command;
}

ForegroundResult run_program(const ForegroundCommand& command, const char* subcommand) {
  ForegroundResult result = run_foreground(command);
  if (result.not_started == 0) return result;
  const int reason = result.not_started;
  if (reason == EMFILE || reason == ENFILE || reason == EAGAIN || reason == ENOMEM) {
    throw call_trouble(fmt::format("'{}' cannot be started", command.program), reason);
  }
  throw UsageError(fmt::format("'{}' cannot be started: {}", command.program, std::strerror(result.not_started)),
                   fmt::format("try it without zerotax {} --", subcommand));
}

}  // namespace zerotax
