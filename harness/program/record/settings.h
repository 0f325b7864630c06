#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace zerotax::record {

/// Environment variables and their values.
using Variables = std::map<std::string, std::string>;

/// Returns the variables of zerotax's own process, which the programs that it starts inherit.
Variables own_variables();
/// Returns the variables that a process was started with; empty if they cannot be read.
Variables variables_of(pid_t pid);

/// Whether a variable holds a list of settings: GLIBC_TUNABLES, MALLOC_CONF, SCUDO_OPTIONS, or one of these names with
/// a prefix.
bool is_list(const std::string& variable);

/// Returns the names of the settings in a list.
std::vector<std::string> names_in_list(const std::string& variable, const std::string& list);

/// Returns `list` with the settings of `value` added. An added setting replaces a setting of the same name.
std::string merged(const std::string& variable, const std::string& list, const std::string& value);

/// Returns the variables that give a program the settings `env` in addition to those in `now`. Lists are merged. If a
/// tunable in `now` overrides a variable of glibc's allocator, the tunable is changed instead of the variable.
Variables with_settings(const Variables& now, const Variables& env);

/// Whether a program with the variables `now` already has the settings.
bool are_set(const Variables& now, const Variables& env);

/// Returns the settings in `now` that `env` replaces, as the user wrote them, such as "dirty_decay_ms:0" or
/// "MALLOC_ARENA_MAX=4". Empty if `env` replaces no setting.
std::string replaced_by(const Variables& now, const Variables& env);

}  // namespace zerotax::record
