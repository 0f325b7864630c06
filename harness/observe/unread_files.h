#pragma once

#include <string>

namespace zerotax {

/// Lines for people about program files whose functions have no names, for reading them failed; empty if there are
/// none.
std::string unread_files_lines();

}  // namespace zerotax
