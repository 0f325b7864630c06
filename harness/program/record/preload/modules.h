#pragma once

#include <cstdint>

#include "record/preload/arena.h"

namespace zerotax::record {

/// Whether an address lies in this library.
bool is_ours(std::uintptr_t address);

/// An address as the arena keeps it: index of its module (noted if it is new) in the upper 16 bits, address in the
/// file's own numbering below; module 0 if it lies in no loaded object. No lock, no allocation.
std::uint64_t place(std::uint64_t address);

/// The path of the loaded object that holds an address; empty if none does.
const char* object_path(const void* address, const ProcessSlot& slot);

}  // namespace zerotax::record
