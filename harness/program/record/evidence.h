#pragma once

#include <string>

#include "judge/evidence.h"
#include "record/result.h"
#include "record/settings.h"

namespace zerotax::record {

/// The counts of a recording that concern a cause, without settings.
Evidence evidence_of(const Record& record, Costly costly);

/// Puts the advice about the cause that costs most, if any costs enough. `library` is the allocator's, and `now` are
/// the program's variables.
void put_advice(Record& record, const std::string& library, const Variables& now);

}  // namespace zerotax::record
