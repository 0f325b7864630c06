#include "record/outside/breakpoint_place.h"

#include <elf.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace zerotax::record {
namespace {

/// Converts "62 e2" or "62e2" to bytes.
std::string bytes_of(const std::string& hexadecimal) {
  std::string digits;
  for (const char each : hexadecimal) {
    if (each != ' ') digits += each;
  }
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoul(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

std::string x86_place(const std::string& hexadecimal) {
  const auto place = breakpoint_place(EM_X86_64, bytes_of(hexadecimal));
  return place ? std::to_string(*place) : "none";
}

std::string arm64_place(const std::vector<std::uint32_t>& words) {
  std::string code;
  for (const std::uint32_t word : words) {
    for (unsigned shift = 0; shift < 32; shift += 8) code += static_cast<char>(word >> shift);
  }
  const auto place = breakpoint_place(EM_AARCH64, code);
  return place ? std::to_string(*place) : "none";
}

TEST(BreakpointPlace, EveryVariantOfEachLibraryHasItsPlace) {
  std::ifstream file(ZEROTAX_SOURCE_DIR "/tests/program/record/data/first_bytes.txt");
  std::set<std::string> processors;
  std::size_t rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::vector<std::string> cells(1);
    for (const char each : line) {
      if (each == '|') {
        cells.emplace_back();
      } else {
        cells.back() += each;
      }
    }
    ASSERT_EQ(cells.size(), 5U) << line;
    std::istringstream(cells[0]) >> cells[0];
    std::istringstream(cells[3]) >> cells[3];
    const unsigned machine = cells[0] == "amd64" ? EM_X86_64 : EM_AARCH64;
    const auto place = breakpoint_place(machine, bytes_of(cells[4]));
    EXPECT_EQ(place ? std::to_string(*place) : "none", cells[3]) << line;
    processors.insert(cells[0]);
    ++rows;
  }
  EXPECT_EQ(processors, (std::set<std::string>{"amd64", "arm64"}));
  EXPECT_GT(rows, 100U);
}

/// The tested instruction comes first, and mov %rdi,%rax (48 89 f8) follows.
TEST(BreakpointPlace, AnInstructionThatTheKernelMisreadsIsPassed) {
  EXPECT_EQ(x86_place("62 e2 7d 48 7a c6 48 89 f8"), "6") << "vpbroadcastb %esi,%zmm16: read as jp";
  EXPECT_EQ(x86_place("62 e2 7d 28 7c c6 48 89 f8"), "6") << "vpbroadcastd %esi,%ymm16: read as jl";
  EXPECT_EQ(x86_place("c4 e2 7d 78 c0 48 89 f8"), "5") << "vpbroadcastb %xmm0,%ymm0: read as js";
  EXPECT_EQ(x86_place("c5 f9 6e c6 48 89 f8"), "4") << "vmovd %esi,%xmm0";
  EXPECT_EQ(x86_place("f3 0f 1e fa 62 e2 7d 48 7a c6 48 89 f8"), "10") << "endbr64 before it";
  EXPECT_EQ(x86_place("0f 1f 44 00 00 48 89 f8"), "5") << "a NOP of five bytes becomes a call";
  EXPECT_EQ(x86_place("66 2e 0f 1f 84 00 00 00 00 00 48 89 f8"), "10") << "a NOP of ten bytes becomes a call, too";
  EXPECT_EQ(x86_place("66 90 90 48 89 f8"), "3");
}

TEST(BreakpointPlace, WhatIsNotKnownToBeSafeIsRefused) {
  for (const char* const code : {"eb 10 48 89 f8",                    // jmp
                                 "e9 10 00 00 00 48 89 f8",           // jmp
                                 "74 10 48 89 f8",                    // je
                                 "0f 84 10 00 00 00 48 89 f8",        // je
                                 "e8 10 00 00 00 48 89 f8",           // call
                                 "ff 25 10 00 00 00 48 89 f8",        // jmp *0x10(%rip)
                                 "c3 48 89 f8",                       // ret
                                 "f3 aa 48 89 f8",                    // rep stos %al
                                 "f3 48 ab 48 89 f8",                 // rep stos %rax
                                 "f3 90 48 89 f8",                    // pause
                                 "48 8b 05 10 00 00 00 48 89 f8",     // mov 0x10(%rip),%rax
                                 "48 8d 05 10 00 00 00 48 89 f8",     // lea 0x10(%rip),%rax
                                 "f0 48 ff 07 48 89 f8",              // lock incq (%rdi)
                                 "64 48 8b 04 25 28 00 00 00 48 89",  // mov %fs:0x28,%rax
                                 "2e 48 89 f8",                       // a segment prefix
                                 "66 b8 10 00 48 89 f8",              // mov $0x10,%ax
                                 "48 89 37 48 89 f8",                 // mov %rsi,(%rdi)
                                 "8f e9 78 81 c0 48 89 f8",           // XOP: vfrczps
                                 "62 e1 7d 48 7f 07 48 89 f8",        // vmovdqa32 %zmm16,(%rdi)
                                 "62 f4 7c 18 01 d0 48 89 f8",        // EVEX map 4 (APX): add %edx,%eax,%eax
                                 "62 f2 79 48 7a c6 48 89 f8",        // EVEX with a bit cleared that must be 1
                                 "c5 f9 7e c6 48 89 f8",              // vmovd %xmm0,%esi: changes an argument
                                 "c5 fe 7f 07 48 89 f8",              // vmovdqu %ymm0,(%rdi)
                                 "c5 f8 77 48 89 f8",                 // vzeroupper
                                 "49 50 48 89 f8",  // push with a prefix that the kernel does not emulate
                                 "9c 48 89 f8",     // pushf: would store the single-step flag
                                 "9d 48 89 f8",     // popf
                                 "8e d8 48 89 f8",  // mov %eax,%ds
                                 "cc 48 89 f8",     // another breakpoint
                                 "d5 19 89 f8",
                                 "06",
                                 "62",
                                 "66 66 66 66",
                                 "48",
                                 ""}) {
    EXPECT_EQ(x86_place(code), "none") << code;
  }
  EXPECT_EQ(breakpoint_place(EM_386, bytes_of("89 f8 89 f8")), std::nullopt);
}

TEST(BreakpointPlace, AnInstructionThatIsCutIsNoPlace) {
  for (const char* const whole :
       {"48 89 f8", "48 8d 34 17", "b8 01 02 03 04", "49 b8 01 01 01 01 01 01 01 01", "48 83 ec 08", "41 54",
        "48 81 ec 08 00 00 00", "48 8d 84 24 08 00 00 00", "66 0f 6e c6", "66 0f 70 c0 00", "48 0f b6 c6", "3c 10",
        "48 3d 10 00 00 00", "0f 28 c1", "48 c1 e0 08", "40 b6 01"}) {
    const std::string code = bytes_of(whole);
    EXPECT_EQ(breakpoint_place(EM_X86_64, code), std::optional<std::uint64_t>(0)) << whole;
    EXPECT_EQ(x86_instruction(code).bytes, code.size()) << whole;
    for (std::size_t i = 0; i < code.size(); ++i) {
      EXPECT_EQ(breakpoint_place(EM_X86_64, code.substr(0, i)), std::nullopt) << whole << " to " << i;
    }
  }
}

TEST(BreakpointPlace, OnArm64OnlyArithmeticBetweenRegistersIsAPlace) {
  constexpr std::uint32_t kMove = 0xaa0003e3;  // mov x3, x0
  EXPECT_EQ(arm64_place({kMove}), "0");
  EXPECT_EQ(arm64_place({0xd503245f, kMove}), "4") << "bti c";
  EXPECT_EQ(arm64_place({0xd503201f, kMove}), "4") << "nop";
  for (const std::uint32_t word : {0xd503233fU,     // paciasp: changes the link register
                                   0x58000041U,     // ldr x1, a literal
                                   0x10000041U,     // adr x1
                                   0x90000041U,     // adrp x1
                                   0x14000010U,     // b
                                   0x54000041U,     // b.ne
                                   0xb4000041U,     // cbz x1
                                   0xc85f7c01U,     // ldxr x1, [x0]
                                   0x19c10443U,     // setp [x3]!, x2!, x1
                                   0xd53b00e1U,     // mrs x1, dczid_el0
                                   0xd4200000U,     // brk
                                   0xa9bf7bfdU,     // stp x29, x30, [sp, #-16]!
                                   0xf9400001U,     // ldr x1, [x0]
                                   0x0420e3e9U}) {  // cntb x9
    EXPECT_EQ(arm64_place({word, kMove}), "none") << fmt::format("{:#x}", word);
  }
}

TEST(Forwarding, AFunctionThatJumpsToAnotherIsKnownByItsCode) {
  EXPECT_EQ(jumps_to(EM_X86_64, bytes_of("4889f231f6e9e6a9f8ff660f1f440000")), 10 - 0x7561a) << "bzero of glibc 2.36";
  EXPECT_EQ(jumps_to(EM_X86_64, bytes_of("f30f1efa4889f231f6e9af9d00006690")), 14 + 0x9daf) << "bzero of musl";
  EXPECT_EQ(jumps_to(EM_AARCH64, bytes_of("e20301aa01008052161c00141f2003d5")), 8 + 4 * 0x1c16)
      << "bzero of glibc 2.31";
  EXPECT_EQ(jumps_to(EM_AARCH64, bytes_of("e20301aafeffff17")), 4 - 8) << "backwards";
  EXPECT_EQ(jumps_to(EM_X86_64, bytes_of("4885d274044889f8c34889d1400fb6c6")), std::nullopt) << "a branch before it";
  EXPECT_EQ(jumps_to(EM_X86_64, bytes_of("4883ec084889f231f6e80215f9ff4883")), std::nullopt) << "a call";
  EXPECT_EQ(jumps_to(EM_X86_64, bytes_of("4889f231f6e9e6a9f8")), std::nullopt) << "cut";
  EXPECT_EQ(jumps_to(EM_AARCH64, bytes_of("200c014e0400028b5f8001f1c8030054")), std::nullopt) << "a branch";
  EXPECT_TRUE(is_linkage(EM_X86_64, bytes_of("ff25aa3f1a006690")));
  EXPECT_TRUE(is_linkage(EM_X86_64, bytes_of("f30f1efaf2ff25aa3f1a0066")));
  EXPECT_FALSE(is_linkage(EM_X86_64, bytes_of("f30f1efa4889f231")));
  EXPECT_TRUE(is_linkage(EM_AARCH64, bytes_of("5f2403d5f0000090110242f9")));
  EXPECT_TRUE(is_linkage(EM_AARCH64, bytes_of("f0000090110242f9")));
  EXPECT_FALSE(is_linkage(EM_AARCH64, bytes_of("f1000090110242f9")));
  EXPECT_FALSE(is_linkage(EM_X86_64, ""));
}

}  // namespace
}  // namespace zerotax::record
