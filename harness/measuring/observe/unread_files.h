#pragma once

#include <string>

namespace zerotax {

/// Lines for people about program files that could not be read, so that their functions have no names; empty if there
/// are none.
std::string unread_files_lines();

}  // namespace zerotax
