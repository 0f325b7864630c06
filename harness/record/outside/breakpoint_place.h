#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace zerotax::record {

/// An instruction at the beginning of a function that stores zeros.
struct FirstInstruction {
  enum class Kind {
    kUnknown,  ///< none that is known here: it takes no breakpoint, and none behind it
    kPassed,   ///< it leaves the arguments alone, and may be one that the kernel misreads: the next one is looked at
    kPlace,    ///< the kernel executes it right in place of the breakpoint
  };
  Kind kind = Kind::kUnknown;
  std::size_t bytes = 0;
};

/// The instruction that these bytes begin with. They may be cut; an instruction that is cut is longer than they are.
FirstInstruction x86_instruction(std::string_view code);
FirstInstruction arm64_instruction(std::string_view code);

/// How many bytes behind its first one a function with this code takes a breakpoint (an uprobe of the kernel) safely,
/// with the arguments as at its first. Nothing: nowhere. The kernel replaces the instruction there, and executes a copy
/// of it elsewhere or emulates it. It misreads some: on Linux 5.10 to 7.2, vpbroadcastb %esi,%zmm16, with which memset
/// of glibc begins on processors with AVX-512, as a jump on parity, so that memset stores another byte. So an
/// instruction is a place only if it is one of few that all these kernels execute right. `machine`: e_machine.
std::optional<std::uint64_t> breakpoint_place(unsigned machine, std::string_view code);

}  // namespace zerotax::record
