#pragma once

#include <string>
#include <vector>

#include "point/allocator.h"
#include "replay/calls_file.h"
#include "replay/prepare.h"
#include "replay/result.h"

namespace zerotax::replay {

/// The allocators of --allocator words, or all that are built in, with the settings of --env words. Throws as
/// resolve_program_allocator.
std::vector<Allocator> replayed_allocators(const std::vector<std::string>& words, const std::vector<std::string>& env);

/// Throws MachineError if the blocks of a recording do not fit in memory.
void check_fits(const Prepared& prepared);

/// The path of replay-calls.
std::string replay_program();

/// How a recording is replayed.
struct Plan {
  std::vector<Allocator> allocators;
  bool free_running = false;
  double timeout_s = 60;
};

/// Replays the recording under each allocator, once under the recorder for its counts and once without for its times,
/// and puts what they did into `replay`. Returns false if a signal asked for an end. Throws MachineError if the blocks
/// of the recording do not fit in memory, or nothing can be counted here.
bool replay_calls(const CallsFile& file, const Plan& plan, Replay& replay);

}  // namespace zerotax::replay
