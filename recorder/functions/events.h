#pragma once

#include "zerotax/recorder.h"

// Events that libzerotax-functions records.

/// `stack` is an address in the hook's frame, which is below the function's frame.
ZEROTAX_EVENT(function_entry, (uint64_t, function), (uint64_t, stack))
ZEROTAX_EVENT(function_exit, (uint64_t, function))
/// A longjmp out of functions, which then never exit. It removes all frames below the stack pointer `stack`.
ZEROTAX_EVENT(function_jump, (uint64_t, stack))
/// A program file, and its place in memory. An address minus `bias` is an address in the file.
ZEROTAX_EVENT(function_module, (uint64_t, begin), (uint64_t, end), (uint64_t, bias), (uint8_t, build_id_bytes),
              (uint8_t, build_id, 20), (char, path, 240))
