#include "drive/record_launch.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "drive/program_launch.h"

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
  check_preload_path(library.string(), "move the project to a path without them");
  return library.string();
}

}  // namespace

RecordTarget resolve_record_target(const std::vector<std::string>& words, const std::string& allocator,
                                   const std::vector<std::string>& env) {
  RecordTarget target;
  target.words = words;
  target.program = resolve_program(words.front());
  check_takes_preload(target.program, "be recorded");
  target.library = find_library();
  target.allocator = resolve_program_allocator(allocator, env);
  return target;
}

ForegroundResult run_recorded(const RecordTarget& target, const RecordArena& arena) {
  ForegroundCommand command = foreground_command(target.program, target.words, target.library, target.allocator);
  command.environment.emplace_back(record::kArenaVariable, arena.path());
  return run_program(command, "record");
}

}  // namespace zerotax
