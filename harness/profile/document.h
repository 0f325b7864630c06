#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "observe/folded.h"
#include "observe/profile_recorder.h"

namespace zerotax::profile {

/// What a sampled stack was busy with, by its innermost frames: "zeroing", "page faults", "mapping calls", "other
/// kernel", "copying", "allocator", "program". A page fault taken by a memset is a page fault.
std::string category_of(const Stack& stack);

/// What was profiled, and in what way.
struct ProfileSubject {
  std::vector<std::string> command;  ///< the program's words, or those that name the case
  unsigned hz = 0;
  double wall_s = 0;
  double user_s = 0;  ///< by the kernel's own account (rusage), a second method
  double system_s = 0;
  int exit_status = 0;
  std::string started;
};

/// The object of "zerotax.profile/1" (results/schema/profile.schema.json).
Json profile_json(const ProfileSubject& subject, const ProfileData& data, const Json& environment);

/// The summary for the terminal, from that object: the categories, the call tree, and the functions by top of stack. At
/// most `columns` wide; branches of the tree under `least` (a share, 0 to 1) are left out.
std::string profile_text(const Json& profile, std::size_t columns = 80, double least = 0.01);

/// The stacks as flame graphs take them, weighted by `weight` for each sample; the kernel's functions end in "_[k]".
FoldedStacks folded_stacks(const ProfileData& data, std::uint64_t weight = 1);

}  // namespace zerotax::profile
