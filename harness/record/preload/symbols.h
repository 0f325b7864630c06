#pragma once

namespace zerotax::record {

// Functions of other objects, by their names. dlsym and dlopen belong to the program. One that fails leaves a text for
// dlerror, which the program's next dlsym frees: a program whose own free asks dlsym for the next one never returns
// from that. One that succeeds drops a text that the program has yet to ask for.

/// The first object after ours that was loaded at the program's start and defines it, as dlsym(RTLD_NEXT) has it;
/// nullptr if there is none.
void* find_next(const char* symbol);

/// The first of these objects, the program and ours included, as dlsym(RTLD_DEFAULT) has it.
void* find_first(const char* symbol);

/// In a library that is loaded, at whatever time; nullptr if it is not, or does not define it.
inline constexpr const char* kCLibrary = "libc.so.6";
void* find_in(const char* library, const char* symbol);

}  // namespace zerotax::record
