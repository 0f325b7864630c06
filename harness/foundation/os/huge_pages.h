#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/measured.h"

namespace zerotax {

/// The transparent huge pages that a process may have, within the limits of the system's setting.
enum class HugePages : std::uint32_t {
  kOfSystem,  ///< as the system's setting says
  kAlways,
  kAdvised,  ///< huge pages only where the program requests them with madvise
  kNever,
};

/// Returns "always", "madvise" or "never", or "" for kOfSystem.
const char* word_of(HugePages huge_pages);
/// Returns the value for a word. Throws UsageError for any other word.
HugePages huge_pages_of(const std::string& word);

/// Returns the system's setting: "always", "madvise" or "never".
Measured<std::string> system_huge_pages();

/// Arguments of prctl(PR_SET_THP_DISABLE, disabled, flags) in a process before it executes its program. A process may
/// restrict the system's setting, but never extend it. kAdvised under the setting "always" needs Linux 6.18.
struct HugePagesSwitch {
  unsigned long disabled = 0;
  unsigned long flags = 0;
};
/// Returns nothing for kOfSystem.
std::optional<HugePagesSwitch> switch_for(HugePages wanted);
/// Returns why a process of ours cannot have this setting, or "" if it can.
std::string why_no_huge_pages(HugePages wanted);

/// Returns how many bytes faults on this machine have populated since boot in pieces larger than a page. Sums the
/// counters of transparent huge pages (anon_fault_alloc of each size; before Linux 6.10, thp_fault_alloc of
/// /proc/vmstat). Returns nothing if the counters are unavailable.
std::optional<std::uint64_t> huge_fault_bytes();
/// Returns how many bytes of shared memory the kernel has populated since boot in pieces larger than a page
/// (shmem_alloc of each size; before Linux 6.10, thp_file_alloc). Returns nothing if the counters are unavailable.
std::optional<std::uint64_t> huge_shared_bytes();

}  // namespace zerotax
