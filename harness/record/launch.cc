#include "record/launch.h"

#include "core/program_launch.h"

namespace zerotax::record {

RecordTarget resolve_record_target(const std::vector<std::string>& words, const std::string& allocator,
                                   const std::vector<std::string>& env) {
  RecordTarget target;
  target.words = words;
  target.program = resolve_program(words.front());
  check_takes_preload(target.program, "be recorded");
  target.library = project_library("libzerotax-record.so");
  target.allocator = resolve_program_allocator(allocator, env);
  return target;
}

ForegroundCommand recorded_command(const RecordTarget& target, const RecordArena& arena) {
  ForegroundCommand command = foreground_command(target.program, target.words, target.library, target.allocator);
  command.environment.emplace_back(record::kArenaVariable, arena.path());
  return command;
}

ForegroundResult run_recorded(const RecordTarget& target, const RecordArena& arena) {
  return run_program(recorded_command(target, arena), "record");
}

}  // namespace zerotax::record
