#pragma once

#include <string>
#include <string_view>

namespace zerotax {

/// Text that a line or a cell of a table of GitHub's Markdown shows unchanged, whatever is in it: it makes no markup,
/// link, image, mention or reference. The text is printable (base/printable.h), or made so here.
std::string markdown_escaped(std::string_view text);

/// The text as code in a line or a cell of a table.
std::string markdown_code(std::string_view text);

/// A block that shows lines of text word for word: its fence is longer than any in it. `language` colors it.
std::string markdown_block(std::string_view text, std::string_view language = "text");

}  // namespace zerotax
