#include "cli/former_names.h"

#include <fmt/format.h>

#include <map>

#include "base/error.h"

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

void check_no_former_command(const std::string& word) {
  constexpr std::pair<const char*, const char*> kNow[] = {
      {"crossover", "compare --along"}, {"loop", "run --loop"}, {"summary", "findings RUN --summary"}};
  for (const auto& [former, now] : kNow) {
    if (word != former) continue;
    throw UsageError(fmt::format("unknown command '{}'", word), fmt::format("it is called zerotax {} now", now));
  }
}

void add_former_name(const CLI::App& command, const std::string& former, const std::string& now) {
  former_names()[&command][former] = now;
}

void check_no_former_name(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  for (std::size_t i = 0; i < words.size() && i < 2; ++i) command = below(command, words[i]);
  const auto names = former_names().find(command);
  if (names == former_names().end()) return;
  for (const std::string& word : words) {
    const auto found = names->second.find(word.substr(0, word.find('=')));
    if (found != names->second.end())
      throw UsageError(fmt::format("unknown option '{}'", found->first), "it is called " + found->second + " now");
  }
}

}  // namespace zerotax
