#pragma once

#include <cstdint>

#include "record/preload/arena.h"

#pragma once

namespace zerotax::record {

/// Whether an address lies in this library.
bool is_ours(std::uintptr_t address);

/// An address as the arena keeps it: index of its module (noted if it is new) in the upper 16 bits, address in the
/// file's own numbering below; module 0 if it lies in no loaded object. No lock, no allocation.
std::uint64_t place(std::uint64_t address);

/// The path of the loaded object that holds an address; empty if none does.
const char* object_path(const void* address, const ProcessSlot& slot);

// Finds functions of other objects by name. dlsym and dlopen are left to the program. If a dlsym of ours fails, it
// leaves a text for dlerror, which the program's next dlsym frees. A program whose own free calls dlsym for the next
// free would then never return. If it succeeds, it drops a text that the program has yet to read.

/// The symbol in the first object after ours that defines it, among those loaded at the program's start, as
/// dlsym(RTLD_NEXT) finds it; nullptr if there is none.
void* find_next(const char* symbol);

/// The symbol in the first of these objects, including the program and ours, as dlsym(RTLD_DEFAULT) finds it.
void* find_first(const char* symbol);

/// The symbol in a library, even if that was loaded later; nullptr if the library is not loaded, or does not define the
/// symbol.
inline constexpr const char* kCLibrary = "libc.so.6";
void* find_in(const char* library, const char* symbol);

}  // namespace zerotax::record
