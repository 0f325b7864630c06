#pragma once

namespace zerotax::recorder {

/// Ends the trace after a record of a type in `until`. Later events are not recorded, and the buffers keep their
/// contents until the trace is stopped. Async-signal-safe.
void end_by_event();

}  // namespace zerotax::recorder
