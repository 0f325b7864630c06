// Processes that nobody who is sampled has started.

#include <unistd.h>

#include "observe/profile_recorder.h"
#include "os/process_info.h"

namespace zerotax {

ProfileRecorder::Process* ProfileRecorder::known(std::uint32_t pid) {
  const auto found = processes_.find(pid);
  if (found != processes_.end()) return &found->second;
  // Of a CPU, most that happens is no concern of ours.
  if (sampler_.samples_cpus()) return options_.scope.is_open() ? join(pid) : nullptr;
  Process& process = processes_[pid];
  process.name = kUnnamedProgram;
  process.unwinder = std::make_shared<Unwinder>(pid);
  process.threads = kManyThreads;
  return &process;
}

/// A process that somebody else started, before it was sampled: its mappings may be read as long as it lives.
ProfileRecorder::Process* ProfileRecorder::join(std::uint32_t pid) {
  if (strangers_.contains(pid)) return nullptr;
  const auto facts = process_facts(static_cast<pid_t>(pid));
  if (pid == 0 || pid == static_cast<std::uint32_t>(::getpid()) || (facts && facts->kernel_thread)) {
    strangers_.insert(pid);
    return nullptr;
  }
  Process& process = processes_[pid];
  const std::string name = process_name(static_cast<pid_t>(pid));
  process = {name.empty() ? kUnnamedProgram : name, std::make_shared<Unwinder>(pid), kManyThreads, true};
  map_process(static_cast<pid_t>(pid), *process.unwinder);
  return &process;
}

}  // namespace zerotax
