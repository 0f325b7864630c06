#pragma once

#include <string>
#include <string_view>

namespace zerotax {

/// Escapes text so that a line or a table cell of GitHub's Markdown shows it unchanged. The text makes no markup, link,
/// image, mention or reference. It is made printable (base/printable.h) if it is not yet.
std::string markdown_escaped(std::string_view text);

/// The text as code in a line or a cell of a table.
std::string markdown_code(std::string_view text);

/// A block that shows lines of text word for word, within a fence that is longer than any in the text. `language`
/// colors the block.
std::string markdown_block(std::string_view text, std::string_view language = "text");

}  // namespace zerotax
