#pragma once

#include <string>
#include <vector>

#include "fork/study.h"

namespace zerotax::fork {

/// A part of what the kernel does in a fork.
struct ForkSection {
  const char* name;
  const char* casper;  ///< the section of the paper's Table I that did the same in System V
  bool memory;         ///< of the address space: not done under CLONE_VM
};

/// In the order of the table. The last but one is observers, the last the rest.
const std::vector<ForkSection>& fork_sections();

/// The section of a stack below kernel_clone (outermost first, as in ForkSamples): an index into fork_sections(). It is
/// the outermost function with a section of its own that decides; an inlined function is found by what it calls.
std::size_t section_of(const std::vector<std::string>& stack);

/// Whether the kernel was clearing a page in this stack, in any section.
bool clears_pages(const std::vector<std::string>& stack);

/// The paper's Table I (Barkley and Schimmel, 1989): milliseconds on an AT&T 3B2/310, smallest process.
struct CasperRow {
  const char* name;
  double ms;
  int percent;
};
const std::vector<CasperRow>& casper_table();

}  // namespace zerotax::fork
