#pragma once

#include <optional>
#include <string>
#include <vector>

#include "prove/functions.h"
#include "prove/record_file.h"
#include "prove/result.h"

namespace zerotax::prove {

/// Longer sequences are not written as a program.
constexpr std::size_t kLongestProgram = 2000;

/// The texts of a program.
struct ProgramWords {
  std::optional<FindingKind> kind;  ///< the program checks only this promise; if absent, all promises
  std::string finding;              ///< the broken promise, in words
  std::string how;                  ///< command that compiles and runs the program
};

/// Returns a C program that makes the calls of a record and checks their results. The program needs only a compiler and
/// the C library. It prints each broken promise, and exits with status 1 if it found one, otherwise with 0.
std::string program_source(const Ops& ops, const std::vector<Function>& functions, const ProgramWords& words);

/// Returns the number of calls of the allocator's functions, and of fork, in a record.
std::uint64_t calls_in(const Ops& ops);

}  // namespace zerotax::prove
