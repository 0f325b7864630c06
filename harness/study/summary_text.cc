#include <fmt/format.h>

#include "base/size.h"
#include "base/units.h"
#include "base/wrap.h"
#include "study/summary.h"

namespace zerotax::study {
namespace {

constexpr const char* kHeading = "## Redundant zeroing, by allocator\n\n";
constexpr const char* kIntroduction =
    "A block from calloc must be all zero. Memory fresh from the kernel already is,\n"
    "and so is memory that nothing has written to. An allocator that writes zeros\n"
    "there anyway wastes time, page faults and memory. In this table, a program\n"
    "callocs a block, touches none of it, and frees it, over and over.\n\n";

/// A string of a document, without a copy in which temporaries would end.
std::string text_of(const Json& object, const char* key) { return object.at(key).get<std::string>(); }

std::string table_of(const Json& allocators) {
  std::string text =
      fmt::format("| {:<26} | {:>15} | {:>16} | {:>9} |\n|:{:-<26}-|-{:->15}:|-{:->16}:|-{:->9}:|\n",
                  "one calloc, then a free", "calloc(100 MiB)", "calloc(1000 MiB)", "redundant", "", "", "", "");
  for (const Json& each : allocators) {
    const Json& cells = each.at("headline");
    text += fmt::format("| {:<26} | {:>15} | {:>16} | {:>9} |\n", text_of(each, "label").substr(0, 26),
                        text_of(cells[0], "time"), text_of(cells[1], "time"), text_of(cells[0], "redundant"));
  }
  return text + "\n(time of one calloc; redundant: share of the 100 MiB that was zeroed needlessly)\n\n";
}

/// What avoids an allocator's needless zeroing, after what is said of it.
std::string avoided(const Json& avoid) {
  if (avoid.is_null()) return "";
  return avoid.at("remedies").empty() ? " Nothing is known that avoids it."
                                      : fmt::format(" Avoided by {}.", text_of(avoid, "text"));
}

}  // namespace

std::string load_sentence(const Json& load) {
  if (!load.is_object() || !load.at("busy").get<bool>()) return "";
  return text_of(load, "sentence") + " Times are not to be relied on; counts are right.";
}

std::string load_text(const Json& load) {
  const std::string sentence = load_sentence(load);
  return sentence.empty() ? sentence : wrap(sentence, "\n", "");
}

std::string summary_text(const Json& summary) {
  const Json& allocators = summary.at("allocators");
  const Json& sentences = summary.at("sentences");
  std::string text = kHeading;
  for (const Json& sentence : sentences) {
    if (sentence.at("part") == "headline") text += wrap("**" + text_of(sentence, "text") + "**", "", "") + "\n";
  }
  text += kIntroduction + table_of(allocators);
  for (const Json& sentence : sentences) {
    if (sentence.at("part") != "each") continue;
    text += wrap(fmt::format("**{}**: {}{}", text_of(sentence, "subject"), text_of(sentence, "text"),
                             avoided(allocators.at(sentence.at("allocator").get<std::size_t>()).at("avoid"))),
                 "- ", "  ");
  }
  text += load_text(summary.at("run").value("load", Json()));
  const Json& failures = summary.at("failures");
  if (!failures.empty()) text += "\nPoints without a result:\n\n";
  for (const Json& failure : failures) {
    text += wrap(fmt::format("{} {} touch {:g}: {}: {}",
                             text_of(allocators.at(failure.at("allocator").get<std::size_t>()), "label"),
                             format_size(failure.at("size_bytes")), failure.at("touch").get<double>(),
                             text_of(failure, "status"), text_of(failure, "reason")),
                 "- ", "  ");
  }
  if (const std::string left_out = text_field(summary.at("run"), "times_left_out", ""); !left_out.empty()) {
    text += "\n" + wrap(left_out, "", "");
  }
  return text;
}

}  // namespace zerotax::study
