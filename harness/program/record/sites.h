#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "observe/interpreter.h"
#include "observe/perf_map.h"
#include "record/preload/arena.h"
#include "record/processes.h"

namespace zerotax::record {

/// The scripts' functions in recorded processes, by the perf maps that these left (PerfMap). A child of fork has those
/// of its parent, too.
class RecordedScripts {
 public:
  explicit RecordedScripts(const std::vector<const ProcessSlot*>& processes) : processes_(processes) {}

  /// The function at an address that is in no file. Nothing if that is not known.
  std::optional<ScriptFunction> function(const ProcessSlot& process, std::uint64_t address);
  /// Of all processes: the interpreters among their programs and libraries.
  ScriptNames names();

 private:
  const std::shared_ptr<PerfMap>& map_of(const ProcessSlot& process);

  const std::vector<const ProcessSlot*>& processes_;
  std::map<const ProcessSlot*, std::shared_ptr<PerfMap>> maps_;
};

struct RecordedSites {
  std::vector<RecordedSite> rows;
  /// What the kernel zeroed and no site has: stacks, data, mappings of the program itself, and the like. Nothing if
  /// the kernel's part is known of no process.
  std::optional<std::uint64_t> elsewhere_bytes;
};

/// The call stacks of all processes, equal ones joined, with names, those with the most bytes first, zeroed
/// there, by the kernel for what was got there, or returned there. `scripts` names what lies in no file.
RecordedSites record_sites(const SeenRun& seen, RecordedScripts& scripts);

}  // namespace zerotax::record
