#pragma once

#include <string>
#include <vector>

namespace zerotax::trace {

/// The list of ZEROTAX_TRACE_EVENTS, from the words of --event: names that are wanted, and after ! those that are not.
/// Throws UsageError for what can be no name of an event.
std::string event_list(const std::vector<std::string>& names);

/// Throws UsageError unless --until is empty or a name of an event that a program can record.
void check_trigger(const std::string& until);

}  // namespace zerotax::trace
