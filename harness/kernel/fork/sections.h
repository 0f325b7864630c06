#pragma once

#include <string>
#include <vector>

#include "base/fields.h"

namespace zerotax::fork {

/// A part of the kernel's work in a fork.
struct ForkSection {
  const char* name;
  const char* casper;  ///< the section of the paper's Table I with this work in System V
  bool memory;         ///< whether the section belongs to the address space, so that CLONE_VM skips it
};

/// All sections, in the order of the table. The last section is the rest, and the last but one is the work of
/// observers.
const std::vector<ForkSection>& fork_sections();

/// The section of a stack below kernel_clone, as an index into fork_sections(). The stack is outermost first, as in
/// ForkSamples. The outermost function with a section of its own decides. An inlined function is recognized by the
/// functions that it calls.
std::size_t section_of(const std::vector<std::string>& stack);

/// Whether the kernel was clearing a page in this stack, in any section.
bool clears_pages(const std::vector<std::string>& stack);

/// The paper's Table I (Barkley and Schimmel, 1989): milliseconds on an AT&T 3B2/310, smallest process.
struct CasperRow {
  RESULT("row", "One row of the paper's table.");
  FIELD(std::string, section, "Name of the section of fork.");
  FIELD(double, ms, "Time of the section, in milliseconds.");
  FIELD(int, percent, "Time of the section as a share of fork's total time, in percent.");
};
const std::vector<CasperRow>& casper_table();

}  // namespace zerotax::fork
