#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace zerotax {

/// The soft limit of a resource (RLIMIT_AS, …; getrlimit(2)) of this process and those it starts, in the resource's own
/// unit (bytes, seconds, descriptors, processes); empty if there is none.
std::optional<std::uint64_t> resource_limit(int resource);

/// Raises the limit of open files as far as it may be, and returns it: a descriptor is needed for each thread, CPU and
/// perf event. 0 if it is not known.
std::uint64_t allow_many_files();

/// How people meet that limit: "the limit of address space, ulimit -v 60000". The shell counts in KiB (file sizes: in
/// blocks of 512 bytes or 1 KiB, so that no number is given). "" for a resource that is not known here.
std::string limit_words(int resource);

/// The option of ulimit that raises it: "-v". "" for a resource that is not known here.
std::string limit_option(int resource);

}  // namespace zerotax
