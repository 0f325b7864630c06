#pragma once

namespace zerotax::recorder {

/// If ZEROTAX_TRACE_CONTROL names a folder: makes this process's file in it (format/control_file.h), and starts a
/// thread that waits there for requests of zerotax trace start, stop and status. Reports on stderr if that is not
/// possible.
void begin_control();

/// Ends that thread, and removes the file.
void end_control();

/// In a forked child: the file is its parent's.
void forget_control();

}  // namespace zerotax::recorder
