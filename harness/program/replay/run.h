#pragma once

#include <functional>
#include <string>
#include <vector>

#include "point/plan.h"
#include "replay/prepare.h"
#include "replay/result.h"

namespace zerotax::replay {

/// Returns the allocators of --allocator words, or all built-in allocators, with the settings of --env words. Throws
/// the errors of resolve_program_allocator.
std::vector<Allocator> replayed_allocators(const std::vector<std::string>& words, const std::vector<std::string>& env);

/// Throws MachineError if the blocks of a recording do not fit in memory.
void check_fits(const Prepared& prepared);

/// Returns the name of a recording in tables: its file name without folder and extension.
std::string workload_name(const std::string& path);

/// Returns the folder of recordings that zerotax includes; empty if the folder is missing.
std::string own_recordings();

/// Returns the given files; a folder is replaced by its files *.calls, in the order of their names. Throws UsageError
/// if a folder has no such files or cannot be read. "workloads" stands for own_recordings() unless a file or folder has
/// that name.
std::vector<std::string> recordings_in(const std::vector<std::string>& paths);

/// Returns the path of replay-calls.
std::string replay_program();

/// Settings for replaying a recording.
struct Plan {
  std::vector<Allocator> allocators;
  bool free_running = false;
  bool times = true;
  double timeout_s = 60;
};

/// Replays recordings under each allocator: once under the recorder for counts, and once without the recorder if times
/// are wanted. `workloads` contains earlier results in the order of the paths; complete workloads are not replayed
/// again. Calls `keep` after each workload.
///
/// Returns false if a signal interrupted the replay. Throws MachineError if the blocks of a recording do not fit in
/// memory, or nothing can be counted on this machine.
bool replay_calls(const std::vector<std::string>& paths, const Plan& plan, std::vector<Workload>& workloads,
                  const std::function<void()>& keep = {});

/// Returns the name of the environment variable with which a replay waits in the last pause of its recording.
const char* wait_variable();

/// Returns the number of processes in a recording.
std::size_t recorded_processes(const std::string& path);

/// Returns a sentence about the accuracy of the file's replay; empty if the file is not a recording. Throws
/// MachineError if the replay under the recorded allocator differs by more than 5 % in the bytes that the kernel
/// zeroes, or by an unknown amount.
std::string checked_prediction(const std::string& path);

}  // namespace zerotax::replay
