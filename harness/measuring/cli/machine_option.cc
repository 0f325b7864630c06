#include "cli/machine_option.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"
#include "cli/complete_values.h"
#include "cli/parser.h"
#include "cli/subcommand.h"
#include "run/debian_library.h"
#include "run/debian_packages.h"
#include "run/machine/boot.h"

namespace zerotax {
namespace {

constexpr const char* kOption = "--on";

/// The command line without the program's name, and without --on and its value.
std::vector<std::string> words_without_place() {
  std::vector<std::string> words(Subcommand::command_line.begin() + 1, Subcommand::command_line.end());
  const auto end = std::find(words.begin(), words.end(), "--");
  const auto found = std::find_if(words.begin(), end, [](const std::string& word) {
    return word == kOption || word.starts_with(std::string(kOption) + "=");
  });
  if (found != end) words.erase(found, found + (*found == kOption ? 2 : 1));
  return words;
}

/// A machine has no network: packages of Debian that these words name are in the cache before it boots.
void fetch_libraries(const std::vector<std::string>& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  for (auto word = words.begin(); word != end; ++word) {
    const auto library = word->find("=deb:");
    if (library != std::string::npos) debian_library(word->substr(library + 1));
  }
}

}  // namespace

std::vector<std::string> machine_places() {
  std::vector<std::string> places{"local"};
  for (const std::string& release : debian_releases()) places.push_back("vm:" + release);
  return places;
}

void add_machine_option(Arguments& arguments) {
  static std::string place = "local";
  arguments
      .option(kOption, place, "where to run: local, or in a virtual machine, as in vm:bookworm (`zerotax help on`)")
      .shown_as("PLACE")
      .word()
      .completed_by(machine_places)
      .common();
}

std::optional<int> run_on_machine(CLI::App& command) {
  const CLI::Option* option = command.get_option_no_throw(kOption);
  if (option == nullptr || option->count() == 0) return std::nullopt;
  const auto text = option->as<std::string>();
  const auto place = machine::parse_place(text);
  if (place) {
    const std::vector<std::string> words = words_without_place();
    fetch_libraries(words);
    return machine::run_in_machine(*place, machine::this_program(*place, words));
  }
  // Words of its own may follow "slurm" (fleet_options.h).
  const std::string name = text.substr(0, text.find(','));
  if (text != "local") check_word(kOption, name, known_values(*option));
  return std::nullopt;
}

}  // namespace zerotax
