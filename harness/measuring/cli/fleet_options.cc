#include "cli/fleet_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/error.h"
#include "cli/machine_option.h"
#include "run/fleet/shards.h"
#include "run/fleet/slurm.h"

namespace zerotax {
namespace {

constexpr const char* kSlurm = "slurm";

/// The words after "slurm", each after a comma. A value of sbatch may have commas, too.
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
          "where to measure: local; slurm: as an array of jobs, on the nodes of a cluster; or in a virtual machine, "
          "as in vm:bookworm (`zerotax help on`)")
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
