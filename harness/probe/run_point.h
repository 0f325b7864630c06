#pragma once

namespace zerotax {

/// Does one pass over one point: maps the record in `fd`, carries out its request, and fills it in. Returns the exit
/// status: 0; kCaseFailed; kWrongRecord if the record has another build's layout or names an unknown case; kNoRecord;
/// kNoMachine.
int run_point(int fd);

}  // namespace zerotax
