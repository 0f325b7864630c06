#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace zerotax::record {

/// Variables of an environment.
using Variables = std::map<std::string, std::string>;

/// Our own variables, which the programs that we start inherit.
Variables own_variables();
/// The variables that a process was started with; empty if they cannot be read.
Variables variables_of(pid_t pid);

/// Whether a variable holds a list of settings: GLIBC_TUNABLES, MALLOC_CONF, SCUDO_OPTIONS, or one of these names with
/// letters before it.
bool is_list(const std::string& variable);

/// The names of the settings in a list.
std::vector<std::string> names_in_list(const std::string& variable, const std::string& list);

/// A list in which settings of `value` replace those of the same name in `list`.
std::string merged(const std::string& variable, const std::string& list, const std::string& value);

/// The variables that give a program the settings `env` besides those in `now`. Lists are merged. A variable of glibc's
/// allocator changes its tunable instead if `now` sets that tunable, which wins.
Variables with_settings(const Variables& now, const Variables& env);

/// Whether a program with the variables `now` has the settings already.
bool are_set(const Variables& now, const Variables& env);

/// The settings in `now` that `env` replaces, as the user wrote them: "dirty_decay_ms:0", "MALLOC_ARENA_MAX=4"; empty
/// if none.
std::string replaced_by(const Variables& now, const Variables& env);

}  // namespace zerotax::record
