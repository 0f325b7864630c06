#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "advise/advice.h"
#include "base/error.h"
#include "base/names.h"
#include "run/allocators.h"
#include "run/program_launch.h"

namespace zerotax::advise {
namespace {

using record::known_remedies;
using record::KnownRemedy;
using record::PresentAllocator;

Remedy remedy_of(const std::string& allocator, const KnownRemedy& known) {
  Remedy remedy;
  remedy.name = allocator + ": " + known.name;
  remedy.allocator = allocator;
  remedy.env = known.env;
  remedy.causes = known.causes;
  remedy.words = known.words;
  remedy.costs = known.costs;
  return remedy;
}

/// Makes the remedy that preloads an allocator with its defaults. Includes the settings that all remedies of this
/// allocator have.
Remedy preloaded(const Allocator& allocator) {
  Remedy remedy;
  remedy.name = allocator.name;
  remedy.allocator = allocator.name;
  if (!allocator.version.empty()) remedy.version = allocator.version;
  if (allocator.preload) remedy.preload = *allocator.preload;
  // The version of largecache also names its default policy, which a remedy may change.
  const std::string version = allocator.version.substr(0, allocator.version.find(" ("));
  remedy.words = fmt::format("{} in place of the program's own allocator",
                             version.empty() ? allocator.name : allocator.name + " " + version);
  remedy.costs = "another allocator serves every allocation";
  for (const KnownRemedy& entry : known_remedies(allocator.name)) {
    if (!entry.always) continue;
    const Remedy base = remedy_of(allocator.name, entry);
    remedy.name = base.name;
    remedy.env = base.env;
    remedy.words += ": " + base.words;
    remedy.costs = base.costs;
  }
  return remedy;
}

class Maker {
 public:
  explicit Maker(const Situation& situation) : situation_(situation) {}

  /// Adds known settings of the program's own allocator, and settings of the command line.
  void add_own(const std::vector<Remedy>& settings) {
    const PresentAllocator& own = situation_.allocator;
    for (const KnownRemedy& entry : known_remedies(own.name)) {
      if (!entry.always) consider(remedy_of(own.name, entry), entry, own);
    }
    add_without_preload();
    add_without_huge_pages();
    for (const Remedy& setting : settings) {
      if (!setting.preload) made_.remedies.push_back(setting);
    }
  }

  /// Adds settings of an allocator inside the program, under the names of the variables that this program reads.
  void add_inside(const record::InsideAllocator& inside) {
    const std::string name = fmt::format("{} in {}", inside.allocator, file_name(inside.file));
    const PresentAllocator allocator{inside.allocator, inside.file, "", inside.variables};
    for (const KnownRemedy& entry : known_remedies(inside.allocator)) {
      if (entry.always) continue;
      Remedy remedy = remedy_of(name, entry);
      remedy.env = settings_of(entry, allocator);
      consider(remedy, entry, allocator);
    }
  }

  void add_other(const Allocator& allocator, const std::vector<Remedy>& settings) {
    const std::size_t plain = made_.remedies.size();
    made_.remedies.push_back(preloaded(allocator));
    const Remedy base = made_.remedies[plain];
    for (const Remedy& setting : settings) {
      if (setting.preload && setting.allocator == allocator.name) made_.remedies.push_back(setting);
    }
    for (const KnownRemedy& entry : known_remedies(allocator.name)) {
      if (entry.always) continue;
      const Remedy setting = remedy_of(allocator.name, entry);
      Remedy both = combined(base, setting);
      both.causes = setting.causes;
      both.parts = {plain};
      if (can_combine(base, setting)) consider(both, entry, {allocator.name, *base.preload, allocator.version, {}});
    }
  }

  /// Adds pairs of settings of the program's own allocator. Huge pages count as one of these settings.
  void add_pairs() {
    const std::size_t single = made_.remedies.size();
    for (std::size_t i = 0; i < single; ++i) {
      for (std::size_t k = i + 1; k < single; ++k) {
        const Remedy& one = made_.remedies[i];
        const Remedy& other = made_.remedies[k];
        if (one.preload || other.preload || one.allocator != other.allocator) continue;
        if (!can_combine(one, other)) continue;
        Remedy both = combined(one, other);
        both.parts = {i, k};
        both.parts_must_gain = true;
        made_.remedies.push_back(both);
      }
    }
  }

  [[nodiscard]] Catalogue take() { return std::move(made_); }

 private:
  /// If the user preloads an allocator, adds the remedy to remove it, so that the C library's own allocator serves the
  /// program.
  void add_without_preload() {
    const char* preloads = std::getenv("LD_PRELOAD");
    const std::string others = other_preloads();
    if (preloads == nullptr || others == preloads) return;
    Remedy remedy;
    remedy.name = remedy.allocator = "glibc";
    remedy.env["LD_PRELOAD"] = others;
    remedy.words = fmt::format("the C library's own allocator, in place of {}", situation_.allocator.name);
    remedy.costs = "another allocator serves every allocation";
    made_.remedies.push_back(remedy);
  }

  /// Adds the remedy to turn off huge pages for the process, whichever allocator it has.
  void add_without_huge_pages() {
    Remedy remedy = without_huge_pages();
    remedy.allocator = situation_.allocator.name;
    std::string why = why_huge_pages_stay();
    if (why.empty() && remedy.launcher.front().empty()) why = "perl, which sets the flag, is not installed";
    if (why.empty()) why = why_small(remedy.causes);
    if (why.empty()) {
      made_.remedies.push_back(remedy);
    } else {
      made_.not_tried.push_back({remedy.name, std::move(why)});
    }
  }

  /// Returns the reason why the program has no huge pages that a remedy could turn off; empty if it may have some.
  [[nodiscard]] std::string why_huge_pages_stay() const {
    if (!situation_.huge_pages) return "huge pages are off on this machine";
    const bool recorded = situation_.recording != nullptr && *situation_.recording;
    return recorded && !(*situation_.recording)->huge_pages ? "the program had no huge pages" : "";
  }

  void consider(Remedy remedy, const KnownRemedy& entry, const PresentAllocator& allocator) {
    std::string why = why_no_effect(entry, allocator, now_);
    if (why.empty()) why = why_not(remedy, entry);
    const std::string replaced = record::replaced_by(now_, remedy.env);
    if (!replaced.empty()) remedy.words += fmt::format(" (in place of {})", replaced);
    if (why.empty()) {
      made_.remedies.push_back(remedy);
    } else {
      made_.not_tried.push_back({remedy.name, std::move(why)});
    }
  }

  /// Returns the reason why this machine or this program leaves the remedy nothing to improve; empty if the remedy
  /// might help.
  [[nodiscard]] std::string why_not(const Remedy& remedy, const KnownRemedy& entry) const {
    if (entry.huge_pages && !situation_.huge_pages) return "huge pages are off on this machine";
    if (entry.huge_pages_off && !remedy.preload) {
      if (std::string why = why_huge_pages_stay(); !why.empty()) return why;
    }
    const bool about_sharing = entry.threads || entry.huge_pages_off || is_for(entry, record::Cause::kReturning);
    if (situation_.shared && !about_sharing)
      return "the setting concerns neither arenas nor huge pages nor returned memory";
    const bool recorded = situation_.recording != nullptr && *situation_.recording;
    if (!recorded || (situation_.all && !situation_.shared)) return "";
    if (entry.threads && !(*situation_.recording)->threads) return "no two threads of a process used the allocator";
    return why_small(remedy.causes);
  }

  /// Returns a sentence if each of the causes takes too little CPU time to matter. `all` holds for goals that are not a
  /// time, because a share of CPU time says nothing about memory.
  [[nodiscard]] std::string why_small(const std::vector<record::Cause>& causes) const {
    if (situation_.all || situation_.recording == nullptr || !*situation_.recording) return "";
    std::vector<std::string> words;
    for (const record::Cause cause : causes) {
      const auto share = (*situation_.recording)->share(cause);
      if (!share || *share >= kNoticed) return "";
      words.emplace_back(word(cause));
    }
    return fmt::format("each cause is below 1 % of CPU time ({})", fmt::join(words, ", "));
  }

  const Situation& situation_;
  const record::Variables now_ = record::own_variables();
  Catalogue made_;
};

}  // namespace

Others allocators_to_try(const std::vector<std::string>& words) {
  Others others;
  std::vector<std::string> chosen = words;
  if (words.empty()) {
    for (const BuiltinAllocator& builtin : builtin_allocators()) {
      if (builtin.name == "glibc") continue;
      if (builtin.missing.empty()) {
        chosen.push_back(builtin.name);
      } else {
        others.missing.push_back({builtin.name, "this build lacks the allocator: " + builtin.missing});
      }
    }
  }
  for (const std::string& word : chosen) {
    if (word == "glibc") {
      throw UsageError("glibc cannot be preloaded: it is the allocator of the C library itself",
                       "give another allocator");
    }
    Allocator allocator = *resolve_program_allocator(word, {});
    for (const Allocator& other : others.allocators) {
      if (other.name != allocator.name) continue;
      throw UsageError(fmt::format("allocator '{}' is named twice", allocator.name),
                       "give each allocator a name of its own, as in a=PATH b=PATH");
    }
    others.allocators.push_back(std::move(allocator));
  }
  return others;
}

void leave_out(Others& others, const std::string& present) {
  const auto is_it = [&](const auto& each) { return each.name == present; };
  std::erase_if(others.allocators, is_it);
  std::erase_if(others.missing, is_it);
}

Remedy setting_of(const std::string& word, const std::vector<Allocator>& others, const std::string& present) {
  const auto [name, key, value] = parse_env_word(word);
  Remedy remedy;
  const auto other =
      std::find_if(others.begin(), others.end(), [&name = name](const Allocator& each) { return each.name == name; });
  if (other != others.end()) {
    remedy = preloaded(*other);
  } else if (name != present && name != "glibc") {
    throw UsageError(fmt::format("--env names '{}', which is not tried", name),
                     fmt::format("add --allocator {}", name));
  }
  remedy.name = word;
  remedy.allocator = name;
  remedy.env[key] = value;
  remedy.words = remedy.words.empty() ? "as given" : remedy.words + ", with the given setting";
  return remedy;
}

Catalogue make_catalogue(const Situation& situation, const std::vector<Allocator>& others,
                         const std::vector<Remedy>& settings) {
  Maker maker(situation);
  maker.add_own(settings);
  for (const record::InsideAllocator& inside : situation.inside) {
    const bool is_own = inside.allocator == situation.allocator.name &&
                        std::all_of(inside.variables.begin(), inside.variables.end(),
                                    [](const auto& variable) { return variable.first == variable.second; });
    if (!is_own) maker.add_inside(inside);
  }
  maker.add_pairs();
  for (const Allocator& allocator : others) maker.add_other(allocator, settings);
  return maker.take();
}

}  // namespace zerotax::advise
