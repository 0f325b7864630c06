#include "cli/topics.h"

#include <sstream>

namespace zerotax {
namespace {

const std::map<std::string, std::string>& embedded_topics() {
  static const std::map<std::string, std::string> all{
#include "embedded_topics.inc"
  };
  return all;
}

}  // namespace

const std::vector<Topic>& topics() {
  static const std::vector<Topic> all = [] {
    std::vector<Topic> found;
    for (const auto& [name, text] : embedded_topics()) {
      const auto end = text.find('\n');
      found.push_back({name, text.substr(0, end), text.substr(text.find_first_not_of('\n', end))});
    }
    return found;
  }();
  return all;
}

std::string topic_for_manual(const Topic& topic, std::string (*escaped)(const std::string& text)) {
  std::istringstream lines(topic.text);
  std::string text;
  bool literal = false;
  for (std::string line; std::getline(lines, line);) {
    const bool indented = line.starts_with("  ");
    if (indented && !literal) text += ".PP\n.RS 4\n.nf\n";
    if (!indented && literal) text += ".fi\n.RE\n";
    literal = indented;
    text += line.empty() ? ".PP\n" : escaped(indented ? line.substr(2) : line) + "\n";
  }
  return text + (literal ? ".fi\n.RE\n" : "");
}

}  // namespace zerotax
