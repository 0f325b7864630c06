#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/parser.h"

namespace zerotax {

/// A text of `zerotax help TOPIC`, which is also a section of the manual page (cli/topics/<name>.txt). A line that
/// begins with two blanks is shown unchanged; other lines are paragraphs, with an empty line between them.
struct Topic {
  std::string name;
  std::string summary;  ///< the first line of the topic's file
  std::string text;     ///< the other lines of the topic's file
};

/// All topics, sorted by name.
const std::vector<Topic>& topics();

/// The text of a topic in the language of man(7). `escaped` makes text safe in that language.
std::string topic_for_manual(const Topic& topic, std::string (*escaped)(const std::string& text));

/// Returns the manual page zerotax(1) in the language of man(7), made from the command line's own description. The page
/// has every command with its options and examples, except those that --help hides.
std::string man_page(const CLI::App& app);

}  // namespace zerotax
