#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "observe/interpreter.h"
#include "observe/perf_map.h"
#include "observe/symbols.h"
#include "record/preload/arena.h"
#include "record/processes.h"

namespace zerotax::record {

/// Names functions of scripts in recorded processes by the perf maps that the processes left (PerfMap). A child of fork
/// also has its parent's functions.
class RecordedScripts {
 public:
  explicit RecordedScripts(const std::vector<const ProcessSlot*>& processes) : processes_(processes) {}

  /// Returns the function at an address outside all files, or nothing if no function is known there.
  std::optional<ScriptFunction> function(const ProcessSlot& process, std::uint64_t address);
  /// Returns the interpreters among the programs and libraries of all processes.
  ScriptNames names();

 private:
  const std::shared_ptr<PerfMap>& map_of(const ProcessSlot& process);

  const std::vector<const ProcessSlot*>& processes_;
  std::map<const ProcessSlot*, std::shared_ptr<PerfMap>> maps_;
};

struct RecordedSites {
  std::vector<RecordedSite> rows;
  /// Kernel-zeroed bytes without a site: stacks, data, the program's own mappings, and the like. Nothing if the
  /// kernel's part is unknown for every process.
  std::optional<std::uint64_t> elsewhere_bytes;
};

/// Names the frames of a call stack of a process (Site::frames).
std::vector<NamedFrame> named_frames(const ProcessSlot& process, const std::uint64_t* frames, std::size_t depth,
                                     RecordedScripts& scripts, Symbols& symbols);

/// Returns the named call stacks of all processes. Equal stacks are merged. Stacks with the most bytes come first:
/// bytes that the stack zeroed or returned, and bytes that the kernel zeroed for its blocks. `scripts` names
/// code outside all files.
RecordedSites record_sites(const SeenRun& seen, RecordedScripts& scripts);

}  // namespace zerotax::record
