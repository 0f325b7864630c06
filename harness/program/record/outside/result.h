#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/kernel_part.h"
#include "record/outside/watch.h"
#include "record/result.h"

namespace zerotax::record {

/// What the numbers of a program that was watched from outside say. `why`: zerotax's library is not in it, as in "it is
/// statically linked". What only that library sees is n/a.
Record outside_result(const OutsideData& data, const std::string& why, const std::string& started);

/// The first lines: how the program was recorded, and what was watched.
std::string outside_head(const Record& record);

/// Where memory was populated, most refilled bytes first; where zeros were stored, and where memory was returned.
std::string outside_sites_text(const Record& record);

/// The processes of a cgroup or of all, most faults first; empty of a program.
std::string outside_processes(const Record& record);

/// What was counted and sampled, and what cannot be seen.
std::string outside_remarks(const Record& record);

/// Where memory was populated, then where zeros were stored, then where memory was to be returned; of each, the
/// heaviest first. `store_ns`: the CPU time that was sampled for stores.
std::vector<RecordedSite> outside_sites(const OutsideData& data, const KernelPart& kernel, std::uint64_t store_ns);

/// What the kernel zeroed for a program, as it is seen from outside.
struct OutsideKernel {
  KernelPart part;
  ZeroedBy method = ZeroedBy::kBounded;
  LowHigh zeroed_interval;  ///< 95 %, kSampled
  std::uint64_t zeroed_at_least = 0;
  LowHigh refilled_interval;        ///< from the ends of zeroed_interval; for the low end, with a peak that was higher
                                    ///< between looks
  std::uint64_t unseen_faults = 0;  ///< of processes, and after last looks, that nobody looked at
};

OutsideKernel outside_kernel(const OutsideData& data);

}  // namespace zerotax::record
