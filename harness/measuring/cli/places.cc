#include "cli/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/error.h"
#include "base/nearest.h"
#include "cli/complete.h"
#include "cli/parser.h"
#include "cli/subcommand.h"
#include "run/debian_library.h"
#include "run/debian_packages.h"
#include "run/fleet/fleet.h"
#include "run/fleet/slurm.h"
#include "run/machine/boot.h"

namespace zerotax {
namespace {

constexpr const char* kOption = "--on";

/// The command line without the program's name, --on and the value of --on.
std::vector<std::string> words_without_place() {
  std::vector<std::string> words(Subcommand::command_line.begin() + 1, Subcommand::command_line.end());
  const auto end = std::find(words.begin(), words.end(), "--");
  const auto found = std::find_if(words.begin(), end, [](const std::string& word) {
    return word == kOption || word.starts_with(std::string(kOption) + "=");
  });
  if (found != end) words.erase(found, found + (*found == kOption ? 2 : 1));
  return words;
}

/// Fetches the Debian packages that the words name, because a virtual machine has no network after it boots.
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
      .option(kOption, place, "run at this place: local, or a virtual machine, as in vm:bookworm (`zerotax help on`)")
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
  // More words may follow "slurm"; FleetOptions::place() checks them.
  const std::string name = text.substr(0, text.find(','));
  if (text != "local") check_word(kOption, name, known_values(*option));
  return std::nullopt;
}

namespace {

constexpr const char* kSlurm = "slurm";

/// Splits ",shards=8,--partition=bench" into words. Only a comma before --, or before shards=, separates words, because
/// the value of an sbatch option may contain commas.
std::vector<std::string> words_of(std::string text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(",--", 1), text.find(",shards=", 1));
    words.push_back(text.substr(1, end == std::string::npos ? end : end - 1));
    text = end == std::string::npos ? "" : text.substr(end);
  }
  return words;
}

std::size_t parse_shards(const std::string& word) {
  std::size_t shards = 0;
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), shards);
  if (failure == std::errc() && end == word.data() + word.size() && shards >= 1 && shards <= fleet::kMostShards) {
    return shards;
  }
  throw UsageError(fmt::format("invalid shards={} of --on", word), fmt::format("give 1 to {}", fleet::kMostShards));
}

}  // namespace

void FleetOptions::add(Arguments& arguments) {
  arguments
      .option(
          "--on", on_,
          "measure at this place: local; slurm, which runs an array of jobs on the nodes of a cluster; or a virtual "
          "machine, as in vm:bookworm (`zerotax help on`)")
      .shown_as("PLACE")
      .word()
      .completed_by([] {
        std::vector<std::string> places = machine_places();
        places.emplace_back(kSlurm);
        return places;
      })
      .with_default()
      .common();
}

fleet::Place FleetOptions::place(bool resumed) const {
  fleet::Place place{on_.substr(0, on_.find(',')) == kSlurm, 0, {}};
  if (!place.slurm) return place;
  for (const std::string& word : words_of(on_.substr(std::strlen(kSlurm)))) {
    if (word.starts_with("--")) {
      place.sbatch.push_back(word);
    } else if (!word.starts_with("shards=")) {
      throw UsageError(fmt::format("invalid '{}' of --on slurm", word),
                       "give shards=N or an option of sbatch, as in slurm,shards=8,--partition=bench");
    } else if (resumed) {
      throw UsageError("--resume continues the run as it was planned, so shards= cannot be given", "leave it out");
    } else {
      place.shards = parse_shards(word.substr(word.find('=') + 1));
    }
  }
  fleet::check_slurm(place);
  return place;
}

}  // namespace zerotax
