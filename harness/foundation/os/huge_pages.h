#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/measured.h"

namespace zerotax {

/// The transparent huge pages that a process may have, whatever the system grants others.
enum class HugePages : std::uint32_t {
  kOfSystem,  ///< as the system's setting is
  kAlways,
  kAdvised,  ///< where the program asks for them by madvise
  kNever,
};

/// "always", "madvise", "never"; "" for kOfSystem.
const char* word_of(HugePages huge_pages);
/// And back. Throws UsageError for another word.
HugePages huge_pages_of(const std::string& word);

/// The system's setting: "always", "madvise", "never".
Measured<std::string> system_huge_pages();

/// What prctl(PR_SET_THP_DISABLE, disabled, flags) takes for them, in a process that then executes its program. A
/// process may take less than the system grants, never more; kAdvised where the system says "always" takes Linux 6.18.
struct HugePagesSwitch {
  unsigned long disabled = 0;
  unsigned long flags = 0;
};
/// Nothing for kOfSystem.
std::optional<HugePagesSwitch> switch_for(HugePages wanted);
/// Why a process of ours cannot have them; empty if it can.
std::string why_no_huge_pages(HugePages wanted);

/// Bytes that all processes of this machine ever had populated in pieces larger than a page, a fault each: by the
/// counters of transparent huge pages (anon_fault_alloc of each size; before Linux 6.10 thp_fault_alloc of
/// /proc/vmstat). Nothing if the kernel does not say.
std::optional<std::uint64_t> huge_fault_bytes();
/// The same counter for shared memory (shmem_alloc; before Linux 6.10, thp_file_alloc).
std::optional<std::uint64_t> huge_shared_bytes();

}  // namespace zerotax
