#include "cli/subcommand.h"

#include <algorithm>

namespace zerotax {
namespace {

struct Entry {
  const char* name;
  const char* summary;
  const char* examples;
  Subcommand::Configure configure;
};

std::vector<Entry>& entries() {
  static std::vector<Entry> all;
  return all;
}

}  // namespace

std::vector<std::string> Subcommand::command_line;

Subcommand::Subcommand(const char* name, const char* summary, const char* examples, Configure configure) {
  entries().push_back({name, summary, examples, configure});
}

void Subcommand::add_all(CLI::App& app, ExitStatus& status) {
  std::sort(entries().begin(), entries().end(),
            [](const Entry& a, const Entry& b) { return std::string_view(a.name) < b.name; });
  for (const Entry& entry : entries()) {
    CLI::App* command = app.add_subcommand(entry.name, entry.summary);
    command->footer(std::string("Examples:\n") + entry.examples);
    if (entry.summary[0] == '\0') command->group("");
    const auto work = entry.configure(*command);
    command->callback([work, &status] { status = work(); });
  }
}

void Subcommand::check_name(const std::string& word) {
  std::string names;
  for (const Entry& entry : entries()) {
    if (word == entry.name) return;
    if (entry.summary[0] != '\0') names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw UsageError("unknown command '" + word + "'", "there are: " + names + " (see `zerotax --help`)");
}

int Subcommand::own_words() {
  return static_cast<int>(std::find(command_line.begin(), command_line.end(), "--") - command_line.begin());
}

std::vector<std::string> Subcommand::program_words() {
  const auto mark = std::find(command_line.begin(), command_line.end(), "--");
  return mark == command_line.end() ? std::vector<std::string>{}
                                    : std::vector<std::string>{mark + 1, command_line.end()};
}

}  // namespace zerotax
