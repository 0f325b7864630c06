#pragma once

namespace zerotax::recorder {

/// Whether a list of names is well formed: event names with * and ?, separated by commas. A name after ! is excluded.
bool is_name_list(const char* list);

/// Whether a list selects the type of event with this name. The name must match a name of the list, unless all names
/// have !, and must match no name after !. An empty list selects everything.
bool is_wanted(const char* list, const char* name);

/// Whether the name matches one of the names without !. Returns false for an empty list.
bool is_listed(const char* list, const char* name);

}  // namespace zerotax::recorder
