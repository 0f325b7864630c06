#pragma once

#include <optional>

#include "base/json.h"
#include "core/point.h"

namespace zerotax {

/// The point's "transfer" object, for a case that receives: what a second and a CPU second of receiving brought, and
/// what was zeroed for each byte received. Times and faults are of the loop at the end of the timing pass, bytes of the
/// audit, whose figures in the steady state are given. Nothing for a case that receives nothing. MB and GB are 10^6 and
/// 10^9 bytes.
std::optional<Json> transfer_json(const Passes& passes, const Json& zeroed_bytes, const Json& redundant_zeroed_bytes);

}  // namespace zerotax
