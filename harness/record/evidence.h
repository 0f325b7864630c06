#pragma once

#include <string>

#include "judge/evidence.h"
#include "record/result.h"
#include "record/settings.h"

namespace zerotax::record {

/// What a recording shows of a cause. It says nothing of settings.
Evidence evidence_of(const Record& record, Costly costly);

/// Puts the advice about the cause that costs most, if one takes enough. `library` is the allocator's, and `now` are
/// the variables of the program.
void put_advice(Record& record, const std::string& library, const Variables& now);

}  // namespace zerotax::record
