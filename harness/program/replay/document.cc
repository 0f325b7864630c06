#include "replay/document.h"

#include "cli/subcommand.h"
#include "os/environment.h"
#include "os/utc.h"
#include "record/calls/document.h"

namespace zerotax::replay {

ZEROTAX_FIELDS(Replayed, allocator, counts, at_least, at_most, failed_calls, user_ns, system_ns, wall_ns, as_recorded)
ZEROTAX_FIELDS(Errors, minor_faults, zero_fill_faults, kernel_zeroed_bytes, refilled_bytes, returned_bytes,
               zeroed_bytes, redundant_zeroed_bytes, mapping_calls, peak_bytes)
ZEROTAX_FIELDS(Recording, path, bytes, calls, processes, threads, allocator, env, limited, unknown_blocks,
               unknown_bytes, counts)
ZEROTAX_FIELDS(Workload, recording, order, replays, errors, prediction, complete)
ZEROTAX_FIELDS_WRITTEN(Replay, schema, zerotax_version, started, environment, command, recording, order, replays,
                       errors, prediction, complete)
ZEROTAX_FIELDS(Workloads, schema, zerotax_version, started, environment, command, workloads, sentence, complete)

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
