#include "drive/record_launch.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "drive/interrupt.h"
#include "drive/probe_identity.h"
#include "os/program_file.h"

namespace zerotax {
namespace {

namespace fs = std::filesystem;

std::string find_library() {
  std::error_code failure;
  const fs::path library = fs::weakly_canonical(fs::path(probe_folder()) / "../lib/libzerotax-record.so", failure);
  if (!fs::exists(library, failure)) {
    throw MachineError(fmt::format("'{}' is missing", library.string()),
                       "build it with ./run build, or point ZEROTAX_PROBE_DIR at the folder of the probes");
  }
  // LD_PRELOAD splits its value at blanks and colons, and there is no way to quote them.
  if (library.string().find_first_of(": ") != std::string::npos) {
    throw UsageError(
        fmt::format("the path '{}' has a blank or colon, which the loader cannot preload", library.string()),
        "move the project to a path without them");
  }
  return library.string();
}

/// A built-in allocator's library is what its probe is linked with.
Allocator resolve_allocator(const std::string& word, const std::vector<std::string>& env) {
  Allocator allocator = resolve_allocators({word}, env).front();
  if (allocator.preload) return allocator;
  const auto answer = ask_probe(allocator);
  std::error_code failure;
  allocator.preload = fs::canonical(answer.at("calloc"), failure).string();
  if (failure) {
    throw MachineError(fmt::format("the library of {} is not where its probe says ({})", word, answer.at("calloc")),
                       "give its path, as in --allocator " + word + "=PATH");
  }
  return allocator;
}

}  // namespace

RecordTarget resolve_record_target(const std::vector<std::string>& words, const std::string& allocator,
                                   const std::vector<std::string>& env) {
  RecordTarget target;
  target.words = words;
  target.program = find_program(words.front());
  if (target.program.empty()) {
    throw UsageError(fmt::format("no command '{}' that may be executed", words.front()),
                     "give a program of PATH, or its path with a slash");
  }
  const std::string why = why_not_preloadable(target.program);
  if (!why.empty()) {
    throw UsageError(fmt::format("'{}' cannot be recorded: it {}", target.program, why),
                     "give a dynamically linked program for this machine that you may run without further rights");
  }
  target.library = find_library();
  if (!allocator.empty()) {
    target.allocator = resolve_allocator(allocator, env);
  } else if (!env.empty()) {
    throw UsageError("--env is given without --allocator",
                     "add --allocator NAME, or set the variable for zerotax itself");
  }
  return target;
}

ForegroundResult run_recorded(const RecordTarget& target, const RecordArena& arena) {
  ForegroundCommand command;
  command.program = target.program;
  command.words = target.words;
  command.before_exec = restore_interrupts;
  // Ours comes first, so that its calls go on to the allocator; what the user preloads stays behind both.
  std::string preload = target.library;
  if (target.allocator) {
    preload += ":" + *target.allocator->preload;
    for (const auto& entry : target.allocator->env) command.environment.emplace_back(entry);
  }
  const char* before = std::getenv("LD_PRELOAD");
  if (before != nullptr && *before != '\0') preload += std::string(":") + before;
  command.environment.emplace_back("LD_PRELOAD", preload);
  command.environment.emplace_back(record::kArenaVariable, arena.path());
  const ForegroundResult result = run_foreground(command);
  if (result.not_started != 0) {
    throw UsageError(fmt::format("'{}' cannot be started: {}", target.program, std::strerror(result.not_started)),
                     "try it without zerotax record --");
  }
  return result;
}

}  // namespace zerotax
