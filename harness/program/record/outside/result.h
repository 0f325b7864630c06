#pragma once

#include <string>

#include "record/outside/watch.h"
#include "record/result.h"

namespace zerotax::record {

/// What the numbers of a program that was watched from outside say. `why`: zerotax's library is not in it, as in "it is
/// statically linked". What only that library sees is n/a.
Record outside_result(const OutsideData& data, const std::string& why, const std::string& started);

}  // namespace zerotax::record
