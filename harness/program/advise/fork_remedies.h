#pragma once

#include <string>
#include <vector>

#include "advise/fork_hook.h"
#include "advise/remedy.h"
#include "advise/result.h"

namespace zerotax::advise {

/// Changes that a program of Python or Ruby could make before its forks.
struct ForkRemedies {
  std::vector<Remedy> remedies;
  std::vector<NotTried> not_tried;
  bool multiprocessing = false;  ///< whether Python's module multiprocessing forked
};

/// Makes the remedies that the interpreters and blocks of a program permit. `notes` are those of a run under the hook,
/// and `files` are the programs that ran.
ForkRemedies fork_remedies(const ForkHook& hook, const HookNotes& notes, const std::vector<std::string>& files);

/// Adds the remedy to keep large blocks out of the children, or the reason why it is not tried. Adds nothing if no
/// process holds large blocks at a fork. `ended_well`: the run under the hook succeeded, with the same output. `place`
/// is where most blocks were allocated; it may be empty.
void add_dont_fork(const ForkHook& hook, const HookNotes& notes, bool ended_well, const std::string& place,
                   ForkRemedies& found);

/// Returns the remedy that makes one change before forks.
Remedy fork_remedy(const ForkHook& hook, ForkChange change);

}  // namespace zerotax::advise
