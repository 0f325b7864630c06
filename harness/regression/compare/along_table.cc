#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/lines.h"
#include "base/size.h"
#include "base/table.h"
#include "base/units.h"
#include "compare/along.h"
#include "compare/comparison.h"

namespace zerotax::compare {
namespace {

/// Returns an estimated place. A size has three digits.
std::string estimated_at(const Along& along, double at) {
  if (along.by_touch) return format_number(at);
  const char* unit = at < kMiB ? "KiB" : at < kGiB ? "MiB" : "GiB";
  const double value = at / static_cast<double>(at < kMiB ? kKiB : at < kGiB ? kMiB : kGiB);
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, unit);
}

/// Wraps text, and indents all lines except the first.
std::string wrap_at(const std::string& text, std::size_t indent) { return wrap(text, "", std::string(indent, ' ')); }

std::string along_header(const Along& along) {
  const PairedSetup& setup = along.setup;
  std::string text =
      wrap_at("A  " + side_label({setup.a, "", {}}), 3) + wrap_at("B  " + side_label({setup.b, "", {}}), 3);
  const char* cost = setup.cost == Cost::kCalloc ? "calloc" : "calloc + touch + free";
  const std::string fixed = along.by_touch ? fmt::format("of {}, by touched fraction", format_size(along.size_bytes))
                                           : fmt::format("by size, touch {:g}", along.touch);
  return text + wrap_at(fmt::format("{} {}, {} thread, {} pairs of processes at each place", cost, fixed, setup.thread,
                                    setup.pairs),
                        2);
}

std::string places_text(const Along& along) {
  Table table({right_text(along.by_touch ? "touch" : "size", 12),
               {"A", Unit::kNs, 10},
               {"B", Unit::kNs, 10},
               right_text("A/B", 9),
               {"95 % interval", Unit::kText, 0, "", {}, 3}});
  std::string left_out;
  for (const PairedPlace& place : along.places) {
    const std::string at = format_at(along, along.at(place));
    const PointVerdict* verdict = along.verdict_at(place);
    if (verdict == nullptr) {
      left_out +=
          wrap_at(fmt::format("{} is left out: {}", at, place.left_out.empty() ? "interrupted" : place.left_out), 2);
      continue;
    }
    table.add({at, median_ns(place.pairs, &CostPair::a_ns), median_ns(place.pairs, &CostPair::b_ns),
               ratio_text(verdict->log_ratio),
               fmt::format("{} to {}{}", ratio_text(verdict->interval.low), ratio_text(verdict->interval.high),
                           verdict->clear ? "" : "  not clear")});
  }
  return "\n" + table.text() + left_out + "\n";
}

std::string side_text(const Along& along, const char* where, const Stretch& stretch, const std::string& near,
                      const std::string& far) {
  return wrap_at(fmt::format("  {} {} {} cheaper: A/B is {}, and {}", where, along.cheaper(stretch.sign),
                             stretch.clear ? "is" : "may be", near, far),
                 4);
}

std::string crossing_text(const Along& along, std::size_t k) {
  const Crossing& crossing = along.found.crossings[k];
  const Stretch& below = along.found.stretches[k];
  const Stretch& above = along.found.stretches[k + 1];
  const auto at = [&](double place) { return estimated_at(along, place); };
  std::string text = wrap_at(crossing_sentence(along, k), 2);
  if (!crossing.certain) text += "  uncertain: one side of the crossing may be noise; more --rounds may decide\n";
  if (crossing.jump) text += "  a jump: the ratio more than doubles somewhere in the gap\n";
  text += side_text(along, "below", below,
                    fmt::format("{} at {}", ratio_text(crossing.log_ratio_before), at(crossing.bracket.low)),
                    fmt::format("{} at {}", ratio_text(below.log_ratio_from), at(below.from)));
  text += side_text(along, "above", above,
                    fmt::format("{} at {}", ratio_text(crossing.log_ratio_after), at(crossing.bracket.high)),
                    fmt::format("{} at {}", ratio_text(above.log_ratio_to), at(above.to)));
  return text;
}

std::string findings_text(const Along& along) {
  if (!along.has_verdict()) return "not measured: fewer than two places are left\n";
  if (along.found.crossings.empty()) return wrap_at(none_sentence(along), 2);
  std::string text;
  for (std::size_t k = 0; k < along.found.crossings.size(); ++k) text += crossing_text(along, k);
  return text;
}

std::string dips_text(const Along& along) {
  std::string text;
  for (const Dip& dip : along.found.dips) text += wrap_at(dip_sentence(along, dip), 2);
  return text;
}

}  // namespace

std::string format_at(const Along& along, double at) {
  if (along.by_touch) return format_number(at);
  return format_size(static_cast<std::uint64_t>(std::llround(at)));
}

std::string crossing_sentence(const Along& along, std::size_t k) {
  const Crossing& crossing = along.found.crossings[k];
  const auto at = [&](double place) { return estimated_at(along, place); };
  return fmt::format("{} at {} (95 % interval {} to {}), in {:.4g} % of the resamples",
                     crossing.certain ? "crossing" : "uncertain crossing", at(crossing.at), at(crossing.interval.low),
                     at(crossing.interval.high), 100 * crossing.share);
}

std::string none_sentence(const Along& along) {
  const Stretch& stretch = along.found.stretches.front();
  const std::string range = fmt::format("{} to {}", format_at(along, stretch.from), format_at(along, stretch.to));
  const std::string ratios =
      fmt::format("A/B is {} to {}", ratio_text(stretch.log_ratios.low), ratio_text(stretch.log_ratios.high));
  if (!stretch.clear) return fmt::format("none in range ({}): no difference is clear; {}", range, ratios);
  const bool everywhere = stretch.log_ratios.low * stretch.log_ratios.high > 0;
  return fmt::format("none in range ({}): {} is cheaper {}; {}", range, along.cheaper(stretch.sign),
                     everywhere ? "everywhere" : "wherever the difference is clear", ratios);
}

std::string dip_sentence(const Along& along, const Dip& dip) {
  return fmt::format("unproven: {} may be cheaper from {} to {} (A/B {}), which would add two crossings",
                     along.cheaper(dip.log_ratio < 0 ? -1 : 1), format_at(along, dip.from), format_at(along, dip.to),
                     ratio_text(dip.log_ratio));
}

std::string along_text(const Along& along) {
  return along_header(along) + places_text(along) + findings_text(along) + dips_text(along);
}

}  // namespace zerotax::compare
