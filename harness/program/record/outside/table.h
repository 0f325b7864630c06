#pragma once

#include <string>

#include "record/result.h"

namespace zerotax::record {

/// The first lines: how the program was recorded, and what was watched.
std::string outside_head(const Record& record);

/// Where memory was populated, most refilled bytes first; where zeros were stored, and where memory was returned.
std::string outside_sites_text(const Record& record);

/// The processes of a cgroup or of all, most faults first; empty of a program.
std::string outside_processes(const Record& record);

/// What was counted and sampled, and what cannot be seen.
std::string outside_remarks(const Record& record);

}  // namespace zerotax::record
