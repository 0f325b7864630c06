#pragma once

namespace zerotax::recorder {

/// Whether this list of names is well formed: names of events with * and ?, separated by commas; one after ! is left
/// out.
bool is_name_list(const char* list);

/// Whether a type of event of this name is wanted: it matches a name of the list, or the list has none without !, and
/// it matches none after !. An empty list wants everything.
bool is_wanted(const char* list, const char* name);

/// Whether it matches one of the names without !. An empty list has none.
bool is_listed(const char* list, const char* name);

}  // namespace zerotax::recorder
