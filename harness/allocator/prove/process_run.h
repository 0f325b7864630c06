#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "os/child.h"
#include "point/plan.h"
#include "prove/process_lines.h"
#include "prove/record_file.h"

namespace zerotax::prove {

/// A search or a replay in a process with the allocator preloaded.
struct ProcessRun {
  Allocator allocator;
  std::vector<std::string> arguments;
  std::string lines;  ///< file that receives the process's lines; overwritten
  std::chrono::duration<double> timeout{};
};

/// The end of a process, and its lines.
struct ProcessEnd {
  ChildResult child;
  ProcessLines lines;
};

/// Runs zerotax-prove-calls until it ends. If a signal requests an end, the process gets a few seconds to write its
/// lines. Calls `look` several times a second. Throws MachineError if the process cannot be started.
ProcessEnd run_process(const ProcessRun& run, const std::function<void()>& look);

/// Replays records under an allocator.
class Replayer {
 public:
  /// The replay writes its files to the folder. `api` is the file of --api; empty if there is none.
  Replayer(Allocator allocator, const head& counters, const std::string& folder, const std::string& api);

  /// Returns the finding of the operations; nothing if they have none. Throws Stop.
  [[nodiscard]] std::optional<ProofFinding> replay(const Ops& ops) const;

 private:
  head counters_;
  std::string scratch_;
  ProcessRun run_;
};

}  // namespace zerotax::prove
