#pragma once

#include <string>

#include "record/result.h"

namespace zerotax::record {

/// What zeroing cost the run and who caused it: 80 columns.
std::string tax_text(const Tax& tax);

/// What programs used that recorded nothing: "with 5,100 minor faults and 12 ms of CPU time".
std::string used_text(const Count& minor_faults, const Count& cpu_ns);

/// How the memory that was returned went back; empty if none did.
std::string returned_text(const Returned& returned);

/// One line if the recorder took more than a tenth of the run's CPU time, else empty.
std::string recorder_cost_text(const Tax& tax);

}  // namespace zerotax::record
