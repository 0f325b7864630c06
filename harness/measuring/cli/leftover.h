#pragma once

#include <string>

#include "base/error.h"
#include "cli/parser.h"

namespace zerotax {

/// "zerotax trace run", as it is called.
std::string called(const CLI::App& command);

/// Whether the command or one of its verbs runs a program: its examples then have words after --.
bool runs_program(const CLI::App& command);

/// The error for a word that a command does not know: an option that it does not have, with the option that was
/// probably meant, or a word too many.
UsageError leftover_error(const CLI::App& command, const std::string& word);

/// The same of a command line that was parsed. Throws std::logic_error if no word is left over.
UsageError leftover_error(const CLI::App& app);

}  // namespace zerotax
