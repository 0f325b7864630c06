#pragma once

// Numbers and names that differ between the supported processors. Code that differs is in a separate file for each
// processor: NAME_x86_64.cc and NAME_aarch64.cc.
#include <elf.h>
#include <linux/audit.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace zerotax {

#if defined(__x86_64__)

inline constexpr const char* kProcessorName = "x86-64";
inline constexpr const char* kDebianArchitecture = "amd64";
inline constexpr const char* kLibraryFolder = "x86_64-linux-gnu";  ///< Debian's folder for this processor in /lib and
                                                                   ///< /usr/lib
inline constexpr const char* kLoaderName = "ld-linux-x86-64.so.2";
/// Prefix of the kernel's functions that implement system calls.
inline constexpr const char* kSyscallPrefix = "__x64_sys_";
/// The architecture that a seccomp filter sees for system calls of this processor.
inline constexpr std::uint32_t kAuditArchitecture = AUDIT_ARCH_X86_64;
/// Whether the kernel has the tracepoints exceptions:page_fault_user and page_fault_kernel for this processor, with x86
/// error codes.
inline constexpr bool kHasFaultTracepoints = true;

/// e_machine of programs, and the relocation types of slots that contain a function's address.
inline constexpr unsigned kElfMachine = EM_X86_64;
inline constexpr unsigned kJumpSlot = R_X86_64_JUMP_SLOT;
inline constexpr unsigned kGlobalSlot = R_X86_64_GLOB_DAT;
inline constexpr unsigned kIndirectSlot = R_X86_64_IRELATIVE;
inline constexpr unsigned kAddressSlot = R_X86_64_64;

/// Bits of perf_event_attr::sample_regs_user (arch/x86/include/uapi/asm/perf_regs.h), in DWARF's order of registers:
/// rax, rdx, …, rip (System V ABI, AMD64 supplement, figure 3.36).
inline constexpr unsigned kRegisterBits[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8};

// DWARF numbers of registers.
inline constexpr int kFramePointer = 6;
inline constexpr int kStackPointer = 7;
inline constexpr int kProgramCounter = 16;
/// Register whose DWARF rule gives a function's return address.
inline constexpr int kReturnColumn = kProgramCounter;
/// Register with the return address on entry to a function; -1 if it is on top of the stack.
inline constexpr int kLinkRegister = -1;
/// Callee-saved registers, including the frame pointer.
inline constexpr int kKeptRegisters[] = {3, kFramePointer, 12, 13, 14, 15};
/// DWARF numbers of the argument registers, for both functions and system calls.
inline constexpr std::size_t kFirstArgument = 5;
inline constexpr std::size_t kSecondArgument = 4;
inline constexpr std::size_t kThirdArgument = 1;

#elif defined(__aarch64__)

inline constexpr const char* kProcessorName = "arm64";
inline constexpr const char* kDebianArchitecture = "arm64";
inline constexpr const char* kLibraryFolder = "aarch64-linux-gnu";
inline constexpr const char* kLoaderName = "ld-linux-aarch64.so.1";
inline constexpr const char* kSyscallPrefix = "__arm64_sys_";
inline constexpr std::uint32_t kAuditArchitecture = AUDIT_ARCH_AARCH64;
inline constexpr bool kHasFaultTracepoints = false;

inline constexpr unsigned kElfMachine = EM_AARCH64;
inline constexpr unsigned kJumpSlot = R_AARCH64_JUMP_SLOT;
inline constexpr unsigned kGlobalSlot = R_AARCH64_GLOB_DAT;
inline constexpr unsigned kIndirectSlot = R_AARCH64_IRELATIVE;
inline constexpr unsigned kAddressSlot = R_AARCH64_ABS64;

/// x0 to x30, sp, pc. Both arch/arm64/include/uapi/asm/perf_regs.h and DWARF for the Arm 64-bit Architecture use these
/// numbers.
inline constexpr unsigned kRegisterBits[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                                             17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};

inline constexpr int kFramePointer = 29;
inline constexpr int kStackPointer = 31;
inline constexpr int kProgramCounter = 32;
inline constexpr int kReturnColumn = 30;
inline constexpr int kLinkRegister = 30;
inline constexpr int kKeptRegisters[] = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, kFramePointer};
inline constexpr std::size_t kFirstArgument = 0;
inline constexpr std::size_t kSecondArgument = 1;
inline constexpr std::size_t kThirdArgument = 2;

#else
#error "zerotax is for x86-64 and arm64"
#endif

inline constexpr std::size_t kRegisters = sizeof kRegisterBits / sizeof kRegisterBits[0];

/// User-mode registers, in DWARF's order.
using Registers = std::array<std::uint64_t, kRegisters>;

/// Whether the CPU is emulated instruction by instruction (QEMU without KVM), so that measured times mean nothing for
/// hardware. Recognized by the hypervisor's name in CPUID leaf 0x40000000 on x86-64, and by the processor's implementer
/// on arm64.
bool cpu_is_emulated();

}  // namespace zerotax
