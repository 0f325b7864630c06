#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>

namespace zerotax {

// What the call frame information of a file (its .eh_frame) says of an address.

struct CodeStart {
  std::uint64_t in_file = 0;  ///< in the file's own numbering
  std::uint64_t in_memory = 0;
};

/// Where the code that an address lies in begins: the start of its row of call frame information, which for a function
/// that keeps nothing on the stack is its own. 0 if it has no such row.
CodeStart code_start(Dwfl_Module* module, std::uint64_t address);

/// A symbol without a size, as assembly has them, is said to be of all that follows. Of what has call frame information
/// where the symbol has none, it is not: that is a function without a name.
bool is_of_another(Dwfl_Module* module, std::uint64_t address, std::uint64_t offset, const GElf_Sym& symbol);

/// How the frame at an address is found, by its call frame information.
struct FrameRule {
  bool by_frame_pointer = false;
  bool outermost = false;  ///< there is no address that it returns to
};

/// `module` may be nullptr: then nothing is known.
FrameRule frame_rule(Dwfl_Module* module, std::uint64_t address);

}  // namespace zerotax
