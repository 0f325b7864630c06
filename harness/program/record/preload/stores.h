#pragma once

namespace zerotax::record {

/// Makes the C library's own calls of memset and its kin, which no preloaded function comes before, ours: in its slots,
/// or, where it calls by address, in the function itself. Returns false if there are none that can be found.
bool hook_libc_stores();

}  // namespace zerotax::record
