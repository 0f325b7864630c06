#pragma once

namespace zerotax::record {

/// Where C++'s operators are not the allocator's own, all objects loaded so far call them directly from now on: what
/// they ask of malloc is counted there, and a detour for each would cost more than the count itself.
void leave_out_operators();

}  // namespace zerotax::record
