#pragma once

#include "cli/parser.h"

namespace zerotax {

/// Makes an option that is a number take plain decimal ones only: the parser would read 0x10 as 16 and 010 as 8. Each
/// command checks the range itself, and nan.
void add_number_check(CLI::Option& option, bool whole);

}  // namespace zerotax
