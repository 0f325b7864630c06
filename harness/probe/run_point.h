#pragma once

namespace zerotax {

/// Does one pass over one point: maps the record in `fd`, carries out its request, and fills it in. Returns the exit
/// status: 0; kCaseFailed; kWrongRecord if the record is not of this build's layout or names no known case; kNoRecord;
/// kNoMachine.
int run_point(int fd);

}  // namespace zerotax
