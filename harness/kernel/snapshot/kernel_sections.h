#pragma once

#include <vector>

#include "snapshot/result.h"

namespace zerotax::snapshot {

/// A part of the kernel's work for a program whose pages are shared by fork, recognised by the function that names it.
using Section = std::uint64_t Sections::*;

struct KernelSection {
  Section section;
  const char* summary;
  std::vector<const char*> prefixes;  ///< of the names of its functions
};

/// In the order in which they are listed.
const std::vector<KernelSection>& kernel_sections();

/// The section of a stack: that of its innermost kernel function which belongs to one; `other` if none does, null if
/// the sample was taken in user mode.
Section section_of(const Stack& stack);

}  // namespace zerotax::snapshot
