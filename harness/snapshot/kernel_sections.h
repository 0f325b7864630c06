#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "snapshot/run.h"

namespace zerotax::snapshot {

/// What the kernel does for a program whose pages are shared by fork, by the function that names it.
struct KernelSection {
  const char* name;
  const char* summary;
};

/// In the order in which they are listed.
const std::vector<KernelSection>& kernel_sections();

/// The section of a stack: that of its innermost kernel function which belongs to one; "other" if none does, empty if
/// the sample was taken in user mode.
std::string_view section_of(const Stack& stack);

/// The parent's time from the instant of the snapshot to the writers' end, before and after the child's end: user mode,
/// and the kernel by sections; and the child's in that time. An object of "cpu" in results/schema/snapshot.schema.json.
Json cpu_json(const SnapshotRun& run);

}  // namespace zerotax::snapshot
