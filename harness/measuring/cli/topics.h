#pragma once

#include <map>
#include <string>
#include <vector>

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

}  // namespace zerotax
