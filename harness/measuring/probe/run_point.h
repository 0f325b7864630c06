#pragma once

namespace zerotax {

/// Does one pass over one point: maps the sample block in `fd`, carries out its request, and fills it in. Returns the
/// exit status: 0; kCaseFailed; kWrongSampleBlock if it has another build's layout or names an unknown case;
/// kNoSampleBlock; kNoMachine.
int run_point(int fd);

}  // namespace zerotax
