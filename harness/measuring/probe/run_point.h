#pragma once

namespace zerotax {

/// Makes one pass over one point: maps the sample block in `fd`, performs its request, and fills it in. Returns the
/// exit status: 0, kCaseFailed, kNoSampleBlock, kNoMachine, or kWrongSampleBlock if the block has another build's
/// layout or names an unknown case.
int run_point(int fd);

}  // namespace zerotax
