#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/size.h"
#include "base/units.h"
#include "fork/document.h"

namespace zerotax::fork {
namespace {

/// Whether a process of the sweep has nothing else much than its populated pages, so that they alone explain its time:
/// what is populated by mmap adds a few mappings.
bool is_plain(const Json& facts, const Json& base) {
  constexpr std::uint64_t kFewMappings = 3;
  return facts.at("mappings").get<std::uint64_t>() <= base.at("mappings").get<std::uint64_t>() + kFewMappings &&
         facts.at("descriptors") == base.at("descriptors") && facts.at("threads") == base.at("threads");
}

const Json* base_of(const Json& model) {
  const Json& fit = model.at("fit");
  const auto found =
      std::find_if(fit.begin(), fit.end(), [](const Json& place) { return place.at("sweep") == "base"; });
  return found == fit.end() ? nullptr : &*found;
}

/// "fork takes 25 µs, and 70 ns for each populated page: 18 ms with 1 GiB."
Json sentence_of(const Json& model) {
  if (is_not_available(model)) return model;
  const Json& terms = model.at("terms");
  const auto page = std::find_if(terms.begin(), terms.end(), [](const Json& term) { return term.at("key") == "page"; });
  const Json* base = base_of(model);
  if (base == nullptr || page == terms.end() || is_not_available(page->at("ns"))) {
    return not_available("the model does not know what a page costs");
  }
  const double empty_ns = base->at("predicted_ns");
  const double page_ns = page->at("ns");
  return fmt::format("fork takes {}, and {} for each populated page: {} with 1 GiB.", format_ns(empty_ns),
                     format_ns(page_ns), format_ns(empty_ns + page_ns * static_cast<double>(kGiB) / 4096));
}

}  // namespace

void add_verdict(Json& fork) {
  fork["sentence"] = sentence_of(fork.at("model"));
  Json& model = fork.at("model");
  if (is_not_available(model)) return;
  const Json* base = base_of(model);
  if (base == nullptr) return;
  const Json facts = base->at("facts");
  for (const char* places : {"fit", "held_back"}) {
    for (Json& place : model.at(places)) place["plain"] = is_plain(place.at("facts"), facts);
  }
}

}  // namespace zerotax::fork
