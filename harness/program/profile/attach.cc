#include "profile/attach.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/names.h"
#include "base/printable.h"
#include "observe/foreign_program.h"
#include "observe/running_process.h"
#include "os/clock.h"
#include "os/process_info.h"
#include "os/utc.h"
#include "profile/account.h"
#include "run/process_wait.h"

namespace zerotax::profile {
SampledProcess describe_process(pid_t pid) {
  SampledProcess process;
  process.pid = pid;
  process.name = process_name(pid);
  process.path = printable(process_program(pid));
  process.build_id = ForeignProgram(fmt::format("/proc/{}/exe", living_thread(pid))).build_id();
  if (const auto facts = process_facts(pid)) {
    process.parent = facts->parent;
    process.parent_name = process_name(facts->parent);
    process.launched = utc_text(facts->started_s);
  }
  return process;
}

SampledProcess describe_program(pid_t pid, const std::string& path, const std::string& launched) {
  SampledProcess process;
  process.pid = pid;
  process.name = printable(file_name(path));
  process.path = printable(path);
  process.build_id = ForeignProgram(path).build_id();
  process.parent = ::getpid();
  process.parent_name = process_name(::getpid());
  process.launched = launched;
  process.ended = true;
  return process;
}

ProfiledRun profile_process(pid_t pid, double seconds, ProfileOptions options) {
  check_process(pid);
  ProfiledRun run;
  run.process = describe_process(pid);
  options.scope.processes = process_tree(pid);
  options.by_thread = true;
  ProfileRecorder recorder(options);
  recorder.wait_ready();
  TreeClock clock(options.scope.processes);
  const std::int64_t start = monotonic_ns();
  run.process->ended = wait_for_process("sampling", pid, seconds, [&] { clock.look(); });
  clock.look();
  run.wall_s = static_cast<double>(monotonic_ns() - start) / 1e9;
  run.data = recorder.finish();
  run.user_s = clock.user_s();
  run.system_s = clock.system_s();
  run.faults = clock.faults();
  if (!options.wall) account_rest(run.data, run.system_s, options.hz);
  run.process->load_address = run.data.load_address;
  if (run.process->ended) run.process->running = run.data.running;
  return run;
}

}  // namespace zerotax::profile
