#pragma once

#include <map>
#include <string>

#include "drive/allocators.h"

namespace zerotax {

/// Starts an allocator's probe and has it say what it is: the files that malloc, calloc, realloc and free come from,
/// its "version", "case.<name>" for each case with its summary, and what it wrote to standard error ("errors"). Throws
/// MachineError if there is no such probe, UsageError if it cannot even start under the allocator.
std::map<std::string, std::string> ask_probe(const Allocator& allocator);

struct KnownCase {
  std::string summary;  ///< one line
  double memory = 1;    ///< what an operation needs at most, in blocks of the point's size
};

/// The cases by name, as the plain probe has them; it is asked once.
const std::map<std::string, KnownCase>& known_cases();

}  // namespace zerotax
