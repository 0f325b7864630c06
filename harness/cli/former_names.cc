#include "cli/former_names.h"

#include <map>

namespace zerotax {
namespace {

std::map<const CLI::App*, std::map<std::string, std::string>>& former_names() {
  static std::map<const CLI::App*, std::map<std::string, std::string>> all;
  return all;
}

/// The command or verb of that name, or `app` itself.
const CLI::App* below(const CLI::App* app, const std::string& name) {
  const auto found = app->get_subcommands([&](const CLI::App* each) { return each->get_name() == name; });
  return found.empty() ? app : found.front();
}

}  // namespace

void add_former_name(const CLI::App& command, const std::string& former, const std::string& now) {
  former_names()[&command][former] = now;
}

std::vector<std::string> words_now(const CLI::App& app, std::vector<std::string> words) {
  const CLI::App* command = &app;
  for (std::size_t i = 0; i < words.size() && i < 2; ++i) command = below(command, words[i]);
  const auto names = former_names().find(command);
  if (names == former_names().end()) return words;
  for (std::string& word : words) {
    const auto equals = word.find('=');
    const auto found = names->second.find(word.substr(0, equals));
    if (found != names->second.end()) word = found->second + (equals == std::string::npos ? "" : word.substr(equals));
  }
  return words;
}

}  // namespace zerotax
