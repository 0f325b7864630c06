#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/kernel_part.h"
#include "record/outside/watch.h"
#include "record/result.h"

namespace zerotax::record {

/// Returns the record of a program that was watched from outside. `why` is the reason why zerotax's library is not in
/// the program, as in "it is statically linked". Metrics that only the library can measure are n/a.
Record outside_result(const OutsideData& data, const std::string& why, const std::string& started);

/// Returns the first lines, which describe how the program was recorded and which processes were watched.
std::string outside_head(const Record& record);

/// Returns the tables of sites: first where memory was populated, most refilled bytes first; then where zeros were
/// stored; then where memory was returned.
std::string outside_sites_text(const Record& record);

/// Returns the table of the processes with the most faults; empty unless a cgroup or all processes were recorded.
std::string outside_processes(const Record& record);

/// Returns remarks on what was counted, what was sampled, and what cannot be seen.
std::string outside_remarks(const Record& record);

/// Returns the sites: first where memory was populated, then where zeros were stored, then where system calls returned
/// memory. Each kind has its heaviest site first. `store_ns` is the CPU time that was sampled for stores.
std::vector<RecordedSite> outside_sites(const OutsideData& data, const KernelPart& kernel, std::uint64_t store_ns);

/// Kernel-zeroed bytes of a program, as seen from outside.
struct OutsideKernel {
  KernelPart part;
  ZeroedBy method = ZeroedBy::kBounded;
  LowHigh zeroed_interval;  ///< 95 % interval, if `method` is kSampled
  std::uint64_t zeroed_at_least = 0;
  LowHigh refilled_interval;        ///< interval of the refilled bytes, from the ends of zeroed_interval; the low end
                                    ///< assumes a higher peak between samples
  std::uint64_t unseen_faults = 0;  ///< faults that no memory sample covers: the process was never sampled, or not
                                    ///< after these faults
};

OutsideKernel outside_kernel(const OutsideData& data);

}  // namespace zerotax::record
