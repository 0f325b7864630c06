#include "record/launch.h"

#include "record/preload/call_area.h"
#include "record/preload/resident_area.h"
#include "run/program_launch.h"

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
  command.environment.emplace_back(kArenaVariable, arena.path());
  if (arena.keeps_resident()) command.environment.emplace_back(kResidentVariable, "1");
  if (!target.call_area.empty()) command.environment.emplace_back(kCallsVariable, target.call_area);
  return command;
}

ForegroundResult run_recorded(const RecordTarget& target, const RecordArena& arena) {
  return run_program(recorded_command(target, arena), "record");
}

ForegroundResult foreground_result(const MeteredRun& run) {
  ForegroundResult result;
  result.exit_status = run.exited ? run.code : 128 + run.code;
  result.signal = run.exited ? 0 : run.code;
  result.pid = run.pid;
  result.started_ns = run.started_ns;
  result.wall_ns = run.wall_ns;
  result.user_ns = run.user_ns;
  result.system_ns = run.system_ns;
  return result;
}

}  // namespace zerotax::record
