#pragma once

#include "record/scripts.h"
#include "record/seen.h"

namespace zerotax::record {

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
