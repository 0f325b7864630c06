#pragma once

#include <cstddef>
#include <string>

#include "exchange/outcome.h"

namespace zerotax::exchange {

/// What GitHub refuses a comment beyond, in characters, and what we keep to, in bytes: the difference is for what a
/// workflow may put around it.
inline constexpr std::size_t kGitHubComment = 65'536;
inline constexpr std::size_t kMarkdownBytes = 65'000;

/// Markdown for the comment of a pull request: the verdict first, a table for each suite, the details folded away, the
/// notes last. At most `most` bytes: what is cut is counted, and what fails the command is cut last.
std::string markdown_text(const OutcomeList& list, std::size_t most = kMarkdownBytes);

}  // namespace zerotax::exchange
