#pragma once

#include <string>

#include "cli/parser.h"

namespace zerotax {

/// The manual page zerotax(1), in man(7)'s language, from the command line's own description: every command with its
/// options and examples. It leaves out what --help hides.
std::string man_page(const CLI::App& app);

}  // namespace zerotax
