#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "point/plan.h"
#include "prove/process_run.h"
#include "prove/run.h"

namespace zerotax::prove {

/// The result of a search.
struct Search {
  ProcessLines lines;
  RecordFile record;  ///< operations up to the finding; empty if nothing was found
};

/// Searches until a broken promise is found, the time is over, or a signal requests an end. The process runs as many
/// sequences at a time as there are CPUs, and writes its files to the folder. Calls `look` several times a second.
Search search(const Allocator& allocator, const ProveRequest& request, const std::vector<std::uint64_t>& sizes,
              std::chrono::duration<double> time, const std::string& folder, const std::function<void()>& look);

}  // namespace zerotax::prove
