#pragma once

#include <string>

#include "judge/evidence.h"
#include "record/result.h"
#include "record/settings.h"

namespace zerotax::record {

/// Collects the counts of a recording that matter for a cause, without settings.
Evidence evidence_of(const Record& record, Costly costly);

/// Stores in the record the advice about the costliest cause, if that cause costs enough. `library` is the allocator's
/// library, and `now` are the program's environment variables.
void put_advice(Record& record, const std::string& library, const Variables& now);

}  // namespace zerotax::record
