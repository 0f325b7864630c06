#pragma once

#include <string>

namespace zerotax {

/// Where people look on, the last line that a command says: "next: zerotax report --allocator glibc". On standard
/// error, and only if that is a terminal. `command`: to paste; empty: there is nothing to act on, and nothing is said.
void say_next(const std::string& command);

}  // namespace zerotax
