#pragma once

#include <sys/auxv.h>

#include <cstdint>

namespace zerotax::recorder {

/// Returns the page size of this machine in bytes. Called when a thread begins, not when it records.
inline std::uint64_t page_bytes() { return ::getauxval(AT_PAGESZ); }

}  // namespace zerotax::recorder
