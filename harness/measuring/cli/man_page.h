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
  std::string summary;  ///< its first line
  std::string text;     ///< the others
};

/// By name.
const std::vector<Topic>& topics();

/// The text of a topic, in man(7)'s language. `escaped` makes a text safe in it.
std::string topic_for_manual(const Topic& topic, std::string (*escaped)(const std::string& text));

/// The manual page zerotax(1), in man(7)'s language, from the command line's own description: every command with its
/// options and examples. It leaves out what --help hides.
std::string man_page(const CLI::App& app);

}  // namespace zerotax
