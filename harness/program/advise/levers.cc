#include "record/levers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "advise/advice.h"
#include "base/error.h"
#include "base/names.h"
#include "base/size.h"

namespace zerotax::advise {
namespace {

using record::KnownRemedy;
using record::Lever;
using record::PresentAllocator;

KnownRemedy known_remedy(const Lever& lever, const std::string& value) {
  KnownRemedy known;
  known.env = record::setting_of(lever, value);
  known.since = lever.since;
  known.before = lever.before;
  return known;
}

/// Adds the levers of one allocator. `label` is the allocator's name in the names of remedies.
class Adder {
 public:
  Adder(const Situation& situation, const PresentAllocator& allocator, std::string label, Catalogue& catalogue)
      : situation_(situation), allocator_(allocator), label_(std::move(label)), catalogue_(catalogue) {}

  [[nodiscard]] std::vector<ChosenLever> add() {
    std::vector<ChosenLever> added;
    const std::vector<Lever> levers = record::known_levers(allocator_.name);
    for (const Lever& lever : levers) {
      if (const std::string why = why_not(lever); !why.empty()) {
        catalogue_.not_tried.push_back({label_ + ": " + lever.name, why});
      } else {
        added.push_back(chosen(lever));
      }
    }
    return added;
  }

 private:
  [[nodiscard]] std::string why_not(const Lever& lever) const {
    if (lever.huge_pages && !situation_.huge_pages) return "huge pages are off on this machine";
    const bool recorded = situation_.recording != nullptr && *situation_.recording;
    if (lever.threads && recorded && !(*situation_.recording)->threads && !situation_.all) {
      return "no two threads of a process used the allocator";
    }
    // All values have the same variables.
    return record::why_unavailable(known_remedy(lever, record::values_of(lever).front()), allocator_);
  }

  ChosenLever chosen(const Lever& lever) {
    ChosenLever chosen{label_ + ": " + lever.name, lever.more, {}};
    for (const std::string& value : record::values_of(lever)) {
      const KnownRemedy known = known_remedy(lever, value);
      Remedy remedy;
      remedy.name = fmt::format("{} {}", chosen.name, record::value_text(lever, value));
      remedy.allocator = label_;
      remedy.env = record::settings_of(known, allocator_);
      remedy.words = record::words_of(lever, value);
      remedy.costs = lever.more;
      const std::string replaced = record::replaced_by(now_, remedy.env);
      const bool is_default = lever.today == value && replaced.empty();
      if (is_default || record::are_set(now_, remedy.env)) chosen.axis.today = chosen.axis.candidates.size();
      if (!replaced.empty()) remedy.words += fmt::format(" (in place of {})", replaced);
      chosen.axis.candidates.push_back(catalogue_.remedies.size());
      catalogue_.remedies.push_back(remedy);
    }
    return chosen;
  }

  const Situation& situation_;
  const PresentAllocator& allocator_;
  std::string label_;
  Catalogue& catalogue_;
  const record::Variables now_ = record::own_variables();
};

/// Sets the parts of each lever of an allocator. A lever whose parts were not added has no parts.
void connect(std::vector<ChosenLever>& levers, const std::string& allocator, const std::string& label) {
  for (const Lever& lever : record::known_levers(allocator)) {
    const auto at = [&](const std::string& name) {
      const std::string full = fmt::format("{}: {}", label, name);
      return std::find_if(levers.begin(), levers.end(), [&](const ChosenLever& each) { return each.name == full; });
    };
    const auto whole = at(lever.name);
    if (whole == levers.end()) continue;
    for (const std::string& part : lever.parts.value_or(std::vector<std::string>{})) {
      if (at(part) != levers.end()) whole->axis.parts.push_back(static_cast<std::size_t>(at(part) - levers.begin()));
    }
  }
}

}  // namespace

std::vector<ChosenLever> add_levers(const Situation& situation, Catalogue& catalogue) {
  std::vector<std::pair<PresentAllocator, std::string>> allocators{{situation.allocator, situation.allocator.name}};
  for (const record::InsideAllocator& inside : situation.inside) {
    if (inside.allocator == situation.allocator.name) continue;
    allocators.emplace_back(PresentAllocator{inside.allocator, inside.file, "", inside.variables},
                            fmt::format("{} in {}", inside.allocator, file_name(inside.file)));
  }
  std::vector<ChosenLever> levers;
  for (const auto& [allocator, label] : allocators) {
    for (ChosenLever& lever : Adder(situation, allocator, label, catalogue).add()) levers.push_back(std::move(lever));
    connect(levers, allocator.name, label);
  }
  return levers;
}

double extra_bytes(const std::string& word, double peak) {
  if (word.size() > 2 && word.front() == '+' && word.back() == '%') {
    char* end = nullptr;
    const double percent = std::strtod(word.c_str() + 1, &end);
    if (end == word.c_str() + word.size() - 1 && percent >= 0 && percent <= 1e6) return percent / 100 * peak;
  } else if (word.size() > 1 && word.front() == '+') {
    return static_cast<double>(parse_size(word.substr(1)));
  }
  throw UsageError(fmt::format("invalid --max-memory '{}'", word),
                   "give memory beyond the unchanged program's, as in +10% or +64MiB");
}

}  // namespace zerotax::advise
