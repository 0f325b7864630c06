#include <fmt/format.h>

#include "base/one_line.h"
#include "base/printable.h"
#include "base/table.h"
#include "base/units.h"
#include "base/wrap.h"
#include "findings/summary.h"
#include "findings/summary_words.h"

namespace zerotax::findings {
namespace {

constexpr const char* kHeading = "## Redundant zeroing, by allocator\n\n";
constexpr const char* kIntroduction =
    "A block from calloc must be all zero. Memory fresh from the kernel already is,\n"
    "and so is memory that nothing has written to. An allocator that writes zeros\n"
    "there anyway wastes time, page faults and memory.\n\n";
constexpr const char* kTableIntroduction =
    "A program callocs a block, touches none of it, and frees it, over and over:\n\n";

/// Nothing where no allocator was measured at one of these sizes.
std::string table_of(const Summary& summary) {
  using Side = Column::Side;
  bool any = false;
  Table table({{"one calloc, then a free", Unit::kText, 26},
               {"calloc(100 MiB)", Unit::kText, 15, "", {}, 1, Side::kRight},
               {"calloc(1000 MiB)", Unit::kText, 16, "", {}, 1, Side::kRight},
               {"redundant", Unit::kText, 9, "", {}, 1, Side::kRight}});
  for (std::size_t n = 0; n < summary.verdicts.allocators.size(); ++n) {
    const PointTax* small = headline_point(summary.verdicts, n, kHeadlineSizes[0]);
    const PointTax* large = headline_point(summary.verdicts, n, kHeadlineSizes[1]);
    any = any || small != nullptr || large != nullptr;
    table.add({first_characters(printable(summary.verdicts.allocators[n].label), 26), time_cell(small),
               time_cell(large), redundant_cell(small)});
  }
  if (!any) return "";
  return kTableIntroduction + table.markdown(true) +
         "\n(time of one calloc; redundant: share of the 100 MiB that was zeroed needlessly)\n\n";
}

/// The sentence on what avoids an allocator's needless zeroing; it follows the sentence on that zeroing.
std::string avoided(const Summary& summary, std::size_t allocator) {
  const auto& avoid = summary.avoid[allocator];
  if (!avoid) return "";
  return avoid->empty()
             ? " Nothing is known that avoids it."
             : fmt::format(" Avoided by {}.", remedies_line(summary.verdicts.allocators[allocator].allocator, *avoid));
}

}  // namespace

std::string load_sentence(const std::optional<Load>& load) {
  return load && load->busy ? load->sentence + " Times are not to be relied on; counts are right." : "";
}

std::string load_text(const std::optional<Load>& load) {
  const std::string sentence = load_sentence(load);
  return sentence.empty() ? sentence : wrap(sentence, "\n", "");
}

std::string summary_text(const Summary& summary) {
  std::string headline;
  std::string each;
  for (const SummarySentence& sentence : summary.sentences) {
    if (sentence.part == SummaryPart::kHeadline) headline += wrap("**" + sentence.text + "**", "", "") + "\n";
    if (sentence.part != SummaryPart::kEach) continue;
    each +=
        wrap(fmt::format("**{}**: {}{}", sentence.subject, sentence.text, avoided(summary, sentence.allocator.value())),
             "- ", "  ");
  }
  std::string text = kHeading + headline + kIntroduction + table_of(summary) + each;
  if (summary.run.huge_pages) text += "\n" + wrap(*summary.run.huge_pages, "", "");
  text += load_text(summary.run.load);
  if (summary.run.points_without_result > 0) text += "\nPoints without a result:\n\n";
  for (const PointTax& point : summary.verdicts.points) {
    if (point.is_ok()) continue;
    text += wrap(fmt::format("{} {} touch {:g}: {}: {}", summary.verdicts.allocators[point.allocator].label,
                             format_size(point.size_bytes), point.touch, word_of(point.status),
                             point.reason.empty() ? "no reason given" : point.reason),
                 "- ", "  ");
  }
  return text + (summary.run.times_left_out ? "\n" + wrap(*summary.run.times_left_out, "", "") : "");
}

}  // namespace zerotax::findings
