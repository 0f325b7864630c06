#pragma once

#include <string>
#include <vector>

#include "advise/recording.h"
#include "advise/remedy.h"
#include "point/plan.h"
#include "record/inside.h"

namespace zerotax::advise {

struct Catalogue {
  std::vector<Remedy> remedies;
  std::vector<NotTried> not_tried;
};

/// The situation that remedies are chosen for.
struct Situation {
  record::PresentAllocator allocator;             ///< the program's own; without a name: unknown
  const Recording* recording = nullptr;           ///< nullptr, or n/a: nothing is known
  bool all = false;                               ///< remedies of all causes
  bool huge_pages = true;                         ///< a program may have huge pages
  std::vector<record::InsideAllocator> inside{};  ///< allocators that the program brings besides
};

/// All remedies: of the program's own allocator its settings, each other allocator, and what these can be combined to.
/// They are the lists `remedies` of allocators/<name>/upstream.json, and `settings` of the command line.
Catalogue make_catalogue(const Situation& situation, const std::vector<Allocator>& others,
                         const std::vector<Remedy>& settings);

/// Allocators that can be preloaded.
struct Others {
  std::vector<Allocator> allocators;
  std::vector<NotTried> missing;  ///< those that this build lacks
};

/// Those of the words of --allocator, or all that are built in. Throws UsageError.
Others allocators_to_try(const std::vector<std::string>& words);

/// Takes out the one that the program runs under in any case.
void leave_out(Others& others, const std::string& present);

/// A remedy from a word of --env, NAME:KEY=VALUE. Throws UsageError.
Remedy setting_of(const std::string& word, const std::vector<Allocator>& others, const std::string& present);

}  // namespace zerotax::advise
