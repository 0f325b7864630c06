#pragma once

#include <sys/auxv.h>

#include <cstdint>

namespace zerotax::recorder {

/// Bytes of a page of this machine; asked for where a thread begins, not where it records.
inline std::uint64_t page_bytes() { return ::getauxval(AT_PAGESZ); }

}  // namespace zerotax::recorder
