#pragma once

#include <cstdint>

#include "record/preload/arena.h"

namespace zerotax::record {

/// Whether an address lies in this library.
bool is_ours(std::uintptr_t address);

/// Converts an address to the form of the arena: the upper 16 bits are the index of the module, and the lower bits the
/// address in the module's file. Adds the module if it is new. Module 0 means that no loaded object contains the
/// address. Takes no lock, and does not allocate.
std::uint64_t place(std::uint64_t address);

/// Returns the path of the loaded object that contains an address, or an empty string.
const char* object_path(const void* address, const ProcessSlot& slot);

// The following functions find functions in loaded objects by name. They do not use dlsym and dlopen, which change the
// program's state. A failed dlsym allocates a text for dlerror, which the program's next dlsym frees. If a program's
// free calls dlsym to find the next free, that free would never return. A successful dlsym drops a text that the
// program has not yet read.

/// Returns the symbol in the first object after this library that defines it, like dlsym(RTLD_NEXT), but only among the
/// objects loaded at the program's start. Returns nullptr if no object defines the symbol.
void* find_next(const char* symbol);

/// Returns the symbol in the first object of the program's start, including the program and this library, like
/// dlsym(RTLD_DEFAULT). `bytes` receives the symbol's size.
void* find_first(const char* symbol, std::size_t* bytes = nullptr);

/// Returns the symbol in a library, which may have been loaded after the program's start. Returns nullptr if the
/// library is not loaded, or does not define the symbol.
inline constexpr const char* kCLibrary = "libc.so.6";
void* find_in(const char* library, const char* symbol);

}  // namespace zerotax::record
