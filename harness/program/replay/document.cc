#include "cli/subcommand.h"
#include "os/clock.h"
#include "os/environment.h"
#include "replay/result.h"

namespace zerotax::replay {

DocumentHead new_head(const char* schema) {
  return {schema, ZEROTAX_VERSION, utc_now(), Subcommand::command_line, describe_environment()};
}

Json replay_json(const Replay& replay) { return replay; }
Json workloads_json(const Workloads& workloads) { return workloads; }
Workloads read_workloads(const Json& json) {
  auto read = json.get<Workloads>();
  for (Workload& workload : read.workloads) {
    for (Replayed& replay : workload.replays) replay.name = replay.allocator.at("name").get<std::string>();
  }
  return read;
}

}  // namespace zerotax::replay
