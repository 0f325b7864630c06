#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace zerotax::record {

/// Variables of an environment.
using Variables = std::map<std::string, std::string>;

/// Ours, which the programs that we start inherit.
Variables own_variables();
/// Those that a process was started with; empty if they cannot be read.
Variables variables_of(pid_t pid);

/// Whether a variable holds a list of settings: GLIBC_TUNABLES, MALLOC_CONF, SCUDO_OPTIONS, and such a name with
/// letters before it.
bool is_list(const std::string& variable);

/// The names of the settings in a list.
std::vector<std::string> names_in_list(const std::string& variable, const std::string& list);

/// A list in which settings of `value` replace those of the same name in `list`.
std::string merged(const std::string& variable, const std::string& list, const std::string& value);

/// The variables with which a program has the settings `env` besides those in `now`: lists are merged, and a variable
/// of glibc's allocator whose tunable `now` sets, which wins, changes the tunable.
Variables with_settings(const Variables& now, const Variables& env);

/// Whether a program with the variables `now` has the settings already.
bool are_set(const Variables& now, const Variables& env);

/// What `env` replaces in `now`, as the user wrote it: "dirty_decay_ms:0", "MALLOC_ARENA_MAX=4"; empty if nothing.
std::string replaced_by(const Variables& now, const Variables& env);

}  // namespace zerotax::record
