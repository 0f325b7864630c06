#pragma once

#include <string>

#include "record/result.h"
#include "record/site_stacks.h"

namespace zerotax::record {

/// The sites of a recording as a gzipped file for pprof: the weights that are known, of each site; `first` is shown
/// first. Bytes and nanoseconds are those of fold_sites(), and what belongs to no site is a sample of its own.
std::string pprof_of(const Record& record, StackWeight first);

}  // namespace zerotax::record
