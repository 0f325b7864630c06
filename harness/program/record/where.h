#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "record/result.h"

namespace zerotax::record {

/// Returns a name on one line, cut if it is too long for a sentence.
std::string short_text(const std::string& text);

/// Names the function that called the allocator: the innermost function that is not an allocator's. If that function
/// worked for a script, adds the script's function.
std::string place_words(const std::vector<NamedFrame>& frames);

/// Returns the number of different processes. If a process ran several programs, each program has an entry, but the
/// process counts once.
std::size_t number_of_processes(const Record& record);

/// Returns the process with the most zeroed bytes (in a recording from outside, the most page faults), or nullptr if
/// there is only one process.
const RecordedProcess* worst_process(const Record& record);

/// Returns a sentence about the worst call site of the most expensive cause that has a site; empty if no cause has a
/// site. `rows` has the causes, the most expensive first.
std::string site_sentence(const Record& record, const std::vector<const TaxRow*>& rows);

/// Returns site_sentence() and a sentence about the worst of several processes.
std::string where_words(const Record& record, const std::vector<const TaxRow*>& rows);

}  // namespace zerotax::record
