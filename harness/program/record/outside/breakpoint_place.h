#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace zerotax::record {

/// An instruction at the beginning of a function that stores zeros.
struct FirstInstruction {
  enum class Kind {
    kUnknown,  ///< unknown here: no breakpoint may stand on it, nor after it
    kPassed,   ///< leaves the arguments alone, but the kernel may misread it: the next instruction is examined
    kPlace,    ///< a breakpoint may stand on it: the kernel executes it correctly
  };
  Kind kind = Kind::kUnknown;
  std::size_t bytes = 0;
};

/// The first instruction of these bytes, which may be cut. A cut instruction counts as longer than the bytes.
FirstInstruction x86_instruction(std::string_view code);
FirstInstruction arm64_instruction(std::string_view code);

/// The distance from the begin of a function to an instruction that can take a breakpoint (a kernel uprobe) safely. The
/// arguments there are the same as at the begin. Nothing if no instruction can. The kernel replaces the instruction,
/// and executes a copy of it elsewhere or emulates it. The kernel misreads some instructions. On processors with
/// AVX-512, memset of glibc begins with vpbroadcastb %esi,%zmm16. Linux 5.10 to 7.2 reads this as a jump on parity, so
/// that memset stores another byte. So only a few instructions qualify: those that all these kernels execute correctly.
/// `machine`: e_machine.
std::optional<std::uint64_t> breakpoint_place(unsigned machine, std::string_view code);

/// The target of the first jump of a function, counted from its first byte, if no branch precedes the jump: bzero of
/// glibc and musl jumps to memset. Nothing for any other function. `machine`: e_machine.
std::optional<std::int64_t> jumps_to(unsigned machine, std::string_view code);

/// Whether this is linker code that calls a function of another file, or a function that the processor decides on.
bool is_linkage(unsigned machine, std::string_view code);

}  // namespace zerotax::record
