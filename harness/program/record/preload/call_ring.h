#pragma once

#include <cstdint>

#include "record/preload/call_area.h"
#include "record/preload/file_pages.h"

namespace zerotax::record {

/// The rings of this process's threads, and its stream (call_area.h).

/// Opens them, once; false if the driver does not want calls, or there is no room for one more process.
bool open_call_area();
/// A child of fork begins a stream of its own; false if there is no room.
bool begin_child_stream();
/// Not so in a child of vfork.
bool is_own_stream();
/// The process ends, or becomes another program.
void end_stream(ImagePages image);

/// Writes a call into the thread's ring, which it gets with its first one.
void note_call(RawKind kind, const void* block, std::uint64_t bytes, std::uint8_t alignment = 0);
/// Before a fork, in the thread that forks: the child knows by it where it began. After it, in the parent: forgets it.
void note_fork_call();
void forget_fork();

}  // namespace zerotax::record
