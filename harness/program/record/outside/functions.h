#pragma once

#include <string>

#include "observe/frame.h"

namespace zerotax::record {

/// What a sampled thread did with memory, by its innermost function.
enum class Filling {
  kNone,
  kZeros,    ///< it stored zeros
  kByValue,  ///< it stored a byte that its second argument says
};

/// By the name of a function in user mode: of the C library, of a program that has it built in (static, musl), of a
/// runtime or an allocator.
Filling filling_of(const std::string& function);

/// Whether it writes or copies memory, or asks the kernel, for its caller, who is the one to name as a site.
bool works_for_caller(const std::string& function);

/// How a stack came to return memory: in a call of free or realloc, by the allocator's or the runtime's own decision,
/// or by the program itself. Frames innermost first.
enum class ReturnedIn { kFree, kPurge, kProgram };
ReturnedIn returned_in(const Stack& stack);

/// What the kernel did in a sample.
enum class KernelWork { kOther, kFault, kClearing, kReturning };

/// By all frames of the kernel on a stack, outermost first; kClearing is a part of kFault.
KernelWork kernel_work(const Stack& stack);

}  // namespace zerotax::record
