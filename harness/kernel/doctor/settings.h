#pragma once

#include <vector>

#include "doctor/check.h"

namespace zerotax::doctor {

/// A check that is a row of data: a file of one word, and what its words mean.
struct Setting {
  struct Meaning {
    const char* value;  ///< as in the file; "*" is any other
    const char* state;  ///< what that is called; empty: as in the file
    Weight weight;
    const char* effect;
    const char* remedy;
  };
  Topic topic;
  const char* name;
  const char* path;
  const char* missing;  ///< what a missing file means
  std::vector<Meaning> meanings;
};

/// Every setting (checks/settings.cc).
const std::vector<Setting>& settings();

/// Looks at the word in brackets of a file such as "always [madvise] never", else at its whole first line.
Finding look_at(const Setting& setting, const Machine& machine);

}  // namespace zerotax::doctor
