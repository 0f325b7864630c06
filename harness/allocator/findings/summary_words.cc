#include "findings/summary_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "findings/findings.h"

namespace zerotax::findings {
namespace {

constexpr std::size_t kMostSpans = 4;  ///< maximum number of ranges listed in a sentence

/// Returns a phrase such as "; each calloc writes 4,194,304 redundant bytes, with 1,024 page faults".
std::string needless_text(const PointTax& point) {
  if (!point.calls || point.calls->empty()) return "";
  const RedundantCalls& calls = point.calls->front();
  std::string text = fmt::format("; {} {} {} redundant bytes", which_calls(calls),
                                 calls.every() || calls.ops == 1 ? "writes" : "write", redundant_words(calls));
  if (!calls.calloc_faults || !calls.calloc_ns) return text;
  text += fmt::format(", with {}", format_counted(*calls.calloc_faults, "page fault"));
  // If every calloc writes redundant bytes, the sentence has already given the time of one calloc.
  return calls.every() ? text : text + fmt::format(" in {}", format_ns(*calls.calloc_ns));
}

/// Returns a sentence on zeroing by free. A calloc that need not clear memory may rely on a free that has cleared it.
std::string free_text(const AllocatorTax& tax) {
  std::string text;
  const char* who = tax.redundant.spans.empty() && !tax.redundant.known.empty() ? "However, its free" : "Its free";
  if (!tax.needless_in_free.spans.empty()) {
    text = fmt::format(" {} writes zeros over blocks that are zero already, at {}.", who,
                       ranges_text(tax.needless_in_free));
  } else if (!tax.cleared_in_free.spans.empty()) {
    text = fmt::format(" {} clears what was written to a block, at {}.", who, ranges_text(tax.cleared_in_free));
  }
  if (!tax.cleared_in_free.unknown.empty()) {
    text += fmt::format(" At {}, the stores of free are unknown.",
                        format_counted(tax.cleared_in_free.unknown.size(), "size"));
  }
  return text;
}

/// Returns a sentence on the first call of a process if this call differs from the later ones, or if it is unknown.
std::string first_text(const AllocatorTax& tax) {
  if (tax.redundant_first.known.empty()) return " The behavior of the first calloc of a process is unknown.";
  if (tax.redundant.spans.empty() && !tax.redundant_first.spans.empty()) {
    return fmt::format(" The first calloc of a process writes needless zeros, at {}.",
                       ranges_text(tax.redundant_first));
  }
  if (tax.redundant.spans.empty() || !tax.redundant_first.spans.empty()) return "";
  if (tax.redundant_first.unknown.empty()) return " The first calloc of a process writes no needless zeros.";
  return fmt::format(
      " The first calloc of a process writes no needless zeros, as far as known; {} could not be audited.",
      format_counted(tax.redundant_first.unknown.size(), "size"));
}

}  // namespace

const PointTax* headline_point(const Verdicts& verdicts, std::size_t allocator, std::uint64_t size) {
  const auto found = std::find_if(verdicts.points.begin(), verdicts.points.end(), [&](const PointTax& point) {
    return point.allocator == allocator && point.size_bytes == size && point.is_ok() && is_untouched_loop(point);
  });
  return found == verdicts.points.end() ? nullptr : &*found;
}

std::string spans_text(const std::vector<SizeSpan>& spans) {
  std::vector<std::string> texts;
  for (const SizeSpan& span : spans) {
    if (texts.size() == kMostSpans) {
      texts.push_back(format_counted(spans.size() - kMostSpans, "more range"));
      break;
    }
    texts.push_back(span.from == span.to ? format_size(span.from)
                                         : fmt::format("{} to {}", format_size(span.from), format_size(span.to)));
  }
  return texts.empty() ? "never" : listed(texts);
}

std::string ranges_text(const SizeRanges& ranges) {
  const std::string word = ranges.word();
  if (word == "unknown") return "not known";
  return (word == "always" && ranges.known.size() > 1 ? "every size, " : "") + spans_text(ranges.spans);
}

std::string times_text(double ratio) { return ratio < kLevelRatio ? "about as much" : format_ratio(ratio) + " times"; }

std::string time_cell(const PointTax* point) {
  if (point == nullptr || !point->calloc_ns) return "n/a";
  if (point->calloc_ns_modes.size() < 2) return format_ns(*point->calloc_ns);
  std::string one = format_ns(point->calloc_ns_modes[0]);
  const std::string other = format_ns(point->calloc_ns_modes[1]);
  if (const std::size_t unit = one.find(' '); other.ends_with(one.substr(unit))) one.resize(unit);
  return fmt::format("{} / {}", one, other);
}

std::string redundant_cell(const PointTax* point) {
  if (point == nullptr || !point->redundant_bytes) return "n/a";
  if (point->calls && !point->calls->empty() && !point->calls->front().every()) {
    return fmt::format("{}/{} calls", point->calls->front().ops, point->calls->front().of_ops);
  }
  return format_whole_percent(static_cast<double>(*point->redundant_bytes) / static_cast<double>(point->size_bytes));
}

std::string worst_text(const Verdicts& verdicts, const PointTax& point) {
  if (!point.calloc_ns) return "";
  std::string text = fmt::format("{} a call", format_ns(*point.calloc_ns));
  if (!point.ratio) return text;
  return text + fmt::format(", {} that of {} ({})", times_text(*point.ratio), verdicts.allocators[*point.fastest].label,
                            format_ns(*point.fastest_ns));
}

std::string allocator_text(const Verdicts& verdicts, const AllocatorTax& tax) {
  std::string text;
  const SizeRanges& redundant = tax.redundant;
  if (redundant.known.empty()) {
    text = "The zeroing of this allocator is unknown, because no size could be audited.";
  } else if (redundant.spans.empty()) {
    text = fmt::format("Never writes zeros over memory that is zero already, at any of {}.",
                       format_counted(redundant.known.size(), "size"));
  } else {
    text = fmt::format("Writes zeros over memory that is zero already, at {}.", ranges_text(redundant));
  }
  if (!redundant.known.empty()) text += first_text(tax);
  text += free_text(tax);
  if (!redundant.known.empty() && !redundant.unknown.empty()) {
    text += fmt::format(" {} could not be audited.", format_counted(redundant.unknown.size(), "size"));
  }
  if (!tax.slow.spans.empty()) text += fmt::format(" Slow at {}.", ranges_text(tax.slow));
  if (!tax.worst) return text;
  const PointTax& worst = verdicts.points[*tax.worst];
  if (worst.ratio && *worst.ratio < kLevelRatio) {
    return text + " It is the fastest, or level with it, at every size that others were measured at.";
  }
  return text + fmt::format(" Worst case: {}, {}{}.", format_size(worst.size_bytes), worst_text(verdicts, worst),
                            needless_text(worst));
}

}  // namespace zerotax::findings
