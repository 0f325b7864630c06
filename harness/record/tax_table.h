#pragma once

#include <string>

#include "base/json.h"

namespace zerotax::record {

/// What zeroing cost the run and who caused it, from the object `tax` of a recording: 80 columns.
std::string tax_text(const Json& tax);

/// What to try next: one sentence.
std::string advice_text(const Json& tax);

/// Whether zeroing costs so much of a program's CPU time that remedies are worth trying.
bool is_worth_advice(const Json& tax);

/// One line that names the command which tries remedies; empty if no cause takes time enough.
std::string pointer_text(const Json& tax);

/// How the memory that was returned went back, from `totals.returned`; empty if none did.
std::string returned_text(const Json& returned);

/// One line if the recorder took more than a tenth of the run's CPU time, else empty.
std::string recorder_cost_text(const Json& tax);

}  // namespace zerotax::record
