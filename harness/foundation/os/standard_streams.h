#pragma once

namespace zerotax {

/// Opens /dev/null for each of the descriptors 0 to 2 that is closed, so that no file of ours gets its number: for
/// reading only as standard output, so that printing there fails and is reported (as in GNU coreutils); for writing
/// as standard error, where nothing more can be reported. To be called before anything else opens a file.
void secure_standard_streams();

/// Writes out what is buffered for standard output. Returns 0, or the errno of the first write to it that failed.
int flush_standard_output();

}  // namespace zerotax
