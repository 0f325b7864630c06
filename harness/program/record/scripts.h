#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "observe/interpreter.h"
#include "observe/perf_map.h"
#include "record/preload/arena.h"

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

}  // namespace zerotax::record
