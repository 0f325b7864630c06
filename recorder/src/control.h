#pragma once

namespace zerotax::recorder {

/// If ZEROTAX_TRACE_CONTROL names a folder, creates this process's file in that folder (format/control_file.h). Starts
/// a thread that waits for requests from zerotax trace start, stop and status. Reports failure on stderr.
void begin_control();

/// Ends the thread of start_control(), and removes the file.
void end_control();

/// Forgets the file in a forked child, because it belongs to the parent.
void forget_control();

}  // namespace zerotax::recorder
