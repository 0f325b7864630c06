#pragma once

#include <string>
#include <vector>

#include "check/baseline.h"
#include "cli/measure_options.h"
#include "point/allocator.h"

namespace zerotax::check {

/// An allocator and the baseline that it is compared with.
struct CheckSubject {
  Allocator allocator;
  std::string path;  ///< of the baseline
  Baseline baseline;
  std::vector<std::string> notes;  ///< sentences on what the baseline decided, because the command line did not
  std::string accept;              ///< the command that makes what is measured the new baseline
};

/// Finds for each allocator its baseline: `baseline` is a file, or a folder of files named by baseline_file_name.
/// Without
/// --allocator, a file says which built-in allocator is meant; a folder means all of them. Without --env, the
/// configuration is the baseline's; another one is a note. Reads everything before anything is measured. Throws
/// UsageError, with the command to give instead, if there is no baseline, or without `force` if it is the baseline of
/// another allocator. A library that was only given another name (NAME=PATH) is not another allocator.
std::vector<CheckSubject> resolve_subjects(const MeasureOptions& options, const std::string& baseline, bool force);

/// Throws UsageError if `bless` would overwrite anything but a baseline of this allocator in this configuration.
void check_overwrite(const Allocator& allocator, const std::string& path, bool force);

/// The word of --allocator: "glibc", "mine=./libmine.so".
std::string word_of(const Allocator& allocator);

}  // namespace zerotax::check
