#pragma once

#include <cstdio>

#include "trace/ctf_trace.h"

namespace zerotax::trace {

/// Writes a trace in Chrome's JSON format (which ui.perfetto.dev opens): each event an instant with its fields;
/// function entries and exits as slices. As it is read: a trace is often larger than memory.
void write_perfetto(CtfTrace& trace, std::FILE* to);

}  // namespace zerotax::trace
