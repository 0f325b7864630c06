#pragma once

#include <cstdint>
#include <string>

#include "base/fields.h"
#include "observe/frame.h"

namespace zerotax {

/// The memory that a store hit, as far as the memory alone shows who wrote it.
enum class StoreTarget : std::uint8_t {
  kOther,
  kInSystemCall,  ///< any memory, written by the kernel in a system call
  kStack,
  kFile,            ///< private mapping of a file
  kReferenceCount,  ///< the following kinds are structures of CPython (PythonWord)
  kCollectorHeader,
  kPoolHeader,
};

/// The kind of code that wrote to a page, so that the kernel copied the page.
enum class Writer : std::uint8_t {
  kCollector,
  kReferenceCounts,
  kAllocator,
  kStacks,
  kFileData,
  kKernel,
  kProgram,
  kUnknown,
};
ENUM_WORDS(Writer, "garbage collector", "reference counts", "allocator", "stacks", "data of files", "system calls",
           "program", "unknown code")

/// Returns the writer for the function that stored (frame) and the memory that the store hit. If the name of the
/// function shows an allocator or a collector, the name determines the writer; otherwise the memory does. Code without
/// a symbol is kUnknown unless the memory decides.
Writer writer_of(const Frame& frame, StoreTarget target);

}  // namespace zerotax
