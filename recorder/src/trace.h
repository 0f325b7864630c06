#pragma once

namespace zerotax::recorder {

/// Ends the trace because a record was made that it was to end with: nothing more is recorded, and the buffers stay as
/// they are until the trace is stopped. Async-signal-safe.
void end_by_event();

}  // namespace zerotax::recorder
