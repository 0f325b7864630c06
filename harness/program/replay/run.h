#pragma once

#include <functional>
#include <string>
#include <vector>

#include "point/plan.h"
#include "replay/prepare.h"
#include "replay/result.h"

namespace zerotax::replay {

/// The allocators of --allocator words, or all that are built in, with the settings of --env words. Throws as
/// resolve_program_allocator.
std::vector<Allocator> replayed_allocators(const std::vector<std::string>& words, const std::vector<std::string>& env);

/// Throws MachineError if the blocks of a recording do not fit in memory.
void check_fits(const Prepared& prepared);

/// The name of a recording in tables: its file without folder and extension.
std::string workload_name(const std::string& path);

/// The folder of recordings that zerotax brings; empty if it is missing.
std::string own_recordings();

/// These files, and in the place of a folder its files *.calls in the order of their names. Throws UsageError for a
/// folder that has none, or cannot be read. "workloads" stands for own_recordings() unless a file or folder has that
/// name.
std::vector<std::string> recordings_in(const std::vector<std::string>& paths);

/// The path of replay-calls.
std::string replay_program();

/// How a recording is replayed.
struct Plan {
  std::vector<Allocator> allocators;
  bool free_running = false;
  bool times = true;
  double timeout_s = 60;
};

/// Replays recordings under each allocator, once under the recorder for its counts and, if times are wanted, once
/// without for these. `workloads` hold what was replayed before, in the order of the paths: those that are complete
/// stay. `keep` is called when one of them is done. Returns false if a signal asked for an end. Throws MachineError if
/// the blocks of a recording do not fit in memory, or nothing can be counted here.
bool replay_calls(const std::vector<std::string>& paths, const Plan& plan, std::vector<Workload>& workloads,
                  const std::function<void()>& keep = {});

/// How well the replay of a file predicts, as a sentence; empty if the file is no recording. Throws MachineError if its
/// replay under the recorded allocator differs by more than 5 % in what the kernel zeroes, or that is unknown.
std::string checked_prediction(const std::string& path);

}  // namespace zerotax::replay
