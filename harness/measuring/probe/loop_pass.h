#pragma once

#include "meter/case.h"
#include "meter/meter.h"
#include "meter/sample_block.h"

namespace zerotax {

/// The loop pass: the operations of a case in one loop, with nothing between them but, now and then, a look at the
/// clock if the request has a budget. Fills in SampleBlock::loop and ops_done. Returns nullptr, or why it could not
/// continue.
const char* run_loop(const Case& measured, Meter& meter, SampleBlock& samples);

}  // namespace zerotax
