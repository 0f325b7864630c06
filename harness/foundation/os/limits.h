#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace zerotax {

/// Returns the soft limit of a resource (RLIMIT_AS, …; getrlimit(2)) for this process and the processes that it starts.
/// The limit is in the resource's own unit (bytes, seconds, descriptors, processes). Returns nothing if there is no
/// limit.
std::optional<std::uint64_t> resource_limit(int resource);

/// Raises the limit of open files as far as permitted. Returns the new limit, or 0 if it is unknown. Each thread, CPU
/// and perf event needs a descriptor.
std::uint64_t allow_many_files();

/// Describes the limit in the user's terms: "the limit of address space, ulimit -v 60000". The shell counts in KiB.
/// File sizes get no number, because shells count them in blocks of 512 bytes or 1 KiB. Returns "" for an unknown
/// resource.
std::string limit_words(int resource);

/// Returns the option of ulimit that raises the limit: "-v". Returns "" for an unknown resource.
std::string limit_option(int resource);

}  // namespace zerotax
