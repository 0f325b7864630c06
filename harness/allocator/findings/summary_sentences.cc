#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/size.h"
#include "base/units.h"
#include "findings/findings.h"
#include "findings/summary.h"
#include "findings/summary_words.h"
#include "judge/tax.h"

namespace zerotax::findings {
namespace {

using Sentences = std::vector<SummarySentence>;

/// Returns a link to the figure of calloc_loop with the points of one touched fraction and thread.
PageLink loop_link(const char* figure, double touch = 0, std::optional<std::uint64_t> size = {},
                   const char* thread = "main") {
  return {figure, "calloc_loop", touch, thread, size};
}

std::string label_of(const Verdicts& verdicts, const PointTax& point) {
  return verdicts.allocators[point.allocator].label;
}

/// Returns a comparison such as "1.00 µs with glibc 2.36 and 2.00 ms with mimalloc 2.0.9: 2,000 times as long".
std::string apart_text(const Verdicts& verdicts, const Apart& apart) {
  return fmt::format("{} with {} and {} with {}: {}{}", format_ns(apart.low), label_of(verdicts, *apart.least),
                     format_ns(apart.high), label_of(verdicts, *apart.most), times_text(apart.ratio()),
                     apart.ratio() < kLevelRatio ? "" : " as long");
}

/// Descriptions of points without a result, the worst first.
constexpr std::pair<PointStatus, const char*> kBrokenWords[] = {
    {PointStatus::kNotZero, "handed out memory that was not all zero"},
    {PointStatus::kMisaligned, "handed out blocks that were not aligned for every type"},
    {PointStatus::kCrashed, "crashed"},
    {PointStatus::kTimeout, "did not end in time"},
    {PointStatus::kFailed, "failed"},
    {PointStatus::kSkipped, "was left out"}};

void add_broken(const Verdicts& verdicts, Sentences& sentences) {
  for (const auto& [status, words] : kBrokenWords) {
    for (std::size_t allocator = 0; allocator < verdicts.allocators.size(); ++allocator) {
      const PointTax* first = nullptr;
      std::uint64_t points = 0;
      for (const PointTax& point : verdicts.points) {
        if (point.status != status || point.allocator != allocator) continue;
        ++points;
        if (first == nullptr || point.size_bytes < first->size_bytes) first = &point;
      }
      if (first == nullptr) continue;
      const std::string more = points > 1 ? " and at " + format_counted(points - 1, "more point") : "";
      sentences.push_back({SummaryPart::kBroken, label_of(verdicts, *first),
                           fmt::format("{} at {}{}: {}.", words, format_size(first->size_bytes), more,
                                       first->reason.empty() ? "no reason given" : first->reason),
                           PageLink{.section = "failures"}});
    }
  }
}

/// Returns a sentence such as "1 of 2 allocators writes zeros …: mimalloc 2.0.9 at every size and glibc 2.36 at some
/// sizes."
std::string who_pays(const Verdicts& verdicts) {
  const auto those = [&](std::string_view word) {
    std::vector<std::string> labels;
    for (const AllocatorTax& tax : verdicts.allocators) {
      const bool measured = !tax.redundant.known.empty() || !tax.redundant.unknown.empty();
      if (measured && tax.redundant.word() == word) labels.push_back(tax.label);
    }
    return labels;
  };
  const auto always = those("always"), some = those("some"), never = those("never"), unknown = those("unknown");
  const std::uint64_t paying = always.size() + some.size();
  if (paying + never.size() == 0) return "";
  std::string text = fmt::format("{} of {} {} zeros over memory that is zero already, though the program wrote nothing",
                                 paying == 0 ? "None" : format_count(paying),
                                 format_counted(paying + never.size(), "allocator"), paying <= 1 ? "writes" : "write");
  std::vector<std::string> who;
  if (!always.empty()) who.push_back(listed(always) + " at every size measured");
  if (!some.empty()) who.push_back(listed(some) + " at some sizes");
  text += fmt::format("{}{}.", who.empty() ? "" : ": ", fmt::join(who, "; "));
  if (paying > 0 && !never.empty()) {
    text += fmt::format(" {} never {}.", listed(never), never.size() == 1 ? "does" : "do");
  }
  if (!unknown.empty()) text += fmt::format(" Unknown: {}.", listed(unknown));
  return text;
}

void add_lead(const Verdicts& verdicts, Sentences& sentences) {
  const auto calloc_ns = [](const PointTax& point) { return point.calloc_ns; };
  if (const auto apart = furthest_apart(verdicts, is_untouched_loop, calloc_ns, kLeastNs)) {
    const std::uint64_t size = apart->least->size_bytes;
    sentences.push_back({SummaryPart::kLead, "How far apart they are",
                         fmt::format("One calloc of {} that nobody writes to takes {}.", format_size(size),
                                     apart_text(verdicts, *apart)),
                         loop_link("time", 0, size)});
  }
  if (const std::string text = who_pays(verdicts); !text.empty()) {
    sentences.push_back({SummaryPart::kLead, "Redundant zeroing", text, loop_link("heat")});
  }
}

std::string coverage(const Verdicts& verdicts) {
  const auto bad = static_cast<std::uint64_t>(std::count_if(verdicts.points.begin(), verdicts.points.end(),
                                                            [](const PointTax& point) { return !point.is_ok(); }));
  return fmt::format("From {} of {}{}.", format_counted(verdicts.points.size(), "point"),
                     format_counted(verdicts.allocators.size(), "allocator"),
                     bad > 0 ? fmt::format(", {} of them without a result", format_count(bad)) : "");
}

/// Returns a phrase such as "it writes zeros over 1,048,576,000 bytes that are zero already", or nothing if no zeros
/// are needless.
std::string needless_words(const PointTax& point) {
  if (!point.calls || point.calls->empty()) return "";
  const RedundantCalls& calls = point.calls->front();
  return fmt::format("{} {} zeros over {} bytes that are zero already", calls.every() ? "it" : which_calls(calls),
                     calls.every() || calls.ops == 1 ? "writes" : "write", redundant_words(calls));
}

/// Returns the worst case of needless zeroing over all allocators, or nothing if none is known.
const PointTax* worst_of_all(const Verdicts& verdicts) {
  const PointTax* worst = nullptr;
  for (const AllocatorTax& tax : verdicts.allocators) {
    if (!tax.worst) continue;
    const PointTax& point = verdicts.points[*tax.worst];
    if (point.redundant() != YesNo::kYes || !point.calloc_ns || needless_words(point).empty()) continue;
    if (worst == nullptr || point.ratio.value_or(0) > worst->ratio.value_or(0)) worst = &point;
  }
  return worst;
}

/// Returns the first sentence of a part of the summary, or nullptr.
const SummarySentence* first_of_part(const Sentences& sentences, SummaryPart part) {
  const auto found =
      std::find_if(sentences.begin(), sentences.end(), [&](const auto& each) { return each.part == part; });
  return found == sentences.end() ? nullptr : &*found;
}

/// Returns the sentence on the worst case. If only some calls write needless zeros, the sentence has the time and ratio
/// of these calls.
SummarySentence worst_case(const Verdicts& verdicts, const PointTax& worst) {
  const RedundantCalls& calls = worst.calls->front();
  const bool some = !calls.every() && calls.calloc_ns;
  const double ns = some ? *calls.calloc_ns : *worst.calloc_ns;
  std::string text = fmt::format("{} takes {} for {} of {} that nobody writes to", label_of(verdicts, worst),
                                 format_ns(ns), some ? which_calls(calls) : "a calloc", format_size(worst.size_bytes));
  const double ratio = worst.fastest_ns ? ns / *worst.fastest_ns : 0;
  if (ratio >= kLevelRatio) {
    text += fmt::format(", {} as long as {} ({})", times_text(ratio), verdicts.allocators[*worst.fastest].label,
                        format_ns(*worst.fastest_ns));
  }
  text += some ? fmt::format(": zeros over {} bytes that are zero already.", redundant_words(calls))
               : fmt::format(": {}.", needless_words(worst));
  return {SummaryPart::kHeadline, "Worst case", text, loop_link("time", 0, worst.size_bytes)};
}

/// Returns the sentence to read first: a broken promise, the worst case of needless zeroing, or otherwise the first
/// known sentence.
SummarySentence headline(const Verdicts& verdicts, const Sentences& sentences) {
  if (const SummarySentence* broken = first_of_part(sentences, SummaryPart::kBroken)) {
    return {SummaryPart::kHeadline, broken->subject, broken->subject + " " + broken->text, broken->link};
  }
  if (const PointTax* worst = worst_of_all(verdicts)) return worst_case(verdicts, *worst);
  if (const SummarySentence* lead = first_of_part(sentences, SummaryPart::kLead)) {
    return {SummaryPart::kHeadline, lead->subject, lead->text, lead->link};
  }
  return {SummaryPart::kHeadline, "Coverage", coverage(verdicts)};
}

/// Adds warnings about the run as a whole: it is incomplete, or other programs kept the machine busy.
void add_warnings(const SummaryRun& run, Sentences& sentences) {
  if (run.unfinished) sentences.push_back({SummaryPart::kWarning, "Not complete", *run.unfinished});
  if (const std::string load = load_sentence(run.load); !load.empty()) {
    sentences.push_back({SummaryPart::kWarning, "Load", load});
  }
}

/// Returns the sentence for a kind of program without measurements, with the command that would measure its case.
SummarySentence unmeasured(const char* subject, const char* text, const char* command) {
  return {SummaryPart::kForWhom, subject, fmt::format(fmt::runtime(text), command), {}, command};
}

SummarySentence untouched(const Verdicts& verdicts) {
  const char* subject = "Callocs big blocks and writes little of them (receive buffers, sparse tables)";
  std::vector<std::string> slow;
  bool compared = false;
  for (const AllocatorTax& tax : verdicts.allocators) {
    compared = compared || !tax.slow.known.empty();
    if (!tax.slow.spans.empty()) slow.push_back(fmt::format("{} at {}", tax.label, ranges_text(tax.slow)));
  }
  if (!compared) {
    return {SummaryPart::kForWhom, subject,
            "Not known: no two allocators were measured at the same size with touch 0."};
  }
  return {SummaryPart::kForWhom, subject,
          slow.empty() ? "No measured allocator is slow there." : fmt::format("Slow: {}.", fmt::join(slow, "; ")),
          loop_link("time")};
}

SummarySentence written(const Verdicts& verdicts) {
  const char* subject = "Writes all of what it callocs";
  const auto meant = [](const PointTax& point) {
    return point.case_name == "calloc_loop" && point.touch == 1 && point.thread == "main";
  };
  const auto apart = furthest_apart(
      verdicts, meant, [](const PointTax& point) { return point.operation_ns; }, kLeastNs);
  if (!apart) return unmeasured(subject, "Not measured: run `{}`.", "zerotax run --touch 1 --size 100MiB");
  const std::uint64_t size = apart->least->size_bytes;
  PageLink link = loop_link("time", 1, size);
  link.columns = {{"time.f", "whole_ns"}};
  return {SummaryPart::kForWhom, subject,
          fmt::format("At {}, calloc, writing every page and free together take {}.", format_size(size),
                      apart_text(verdicts, *apart)),
          link};
}

SummarySentence workers(const Verdicts& verdicts) {
  const char* subject = "Callocs in threads";
  std::size_t points = 0;
  std::vector<std::string> differ;
  for (const AllocatorTax& tax : verdicts.allocators) {
    points += tax.worker_points;
    if (!tax.worker_differs.empty()) differ.push_back(tax.label);
  }
  if (points == 0) {
    return unmeasured(subject,
                      "Worker threads were not measured: run `{}`, or `zerotax run --thread worker --size 100MiB`.",
                      "zerotax study --thorough");
  }
  const std::string text = differ.empty()
                               ? fmt::format(
                                     "Worker threads pay for the same needless zeros as the main thread, with every "
                                     "allocator, at each of {}.",
                                     format_counted(points, "point"))
                               : fmt::format("On worker threads, {} {} other bytes needlessly than on the main thread.",
                                             listed(differ), differ.size() == 1 ? "zeroes" : "zero");
  return {SummaryPart::kForWhom, subject, text, loop_link("heat", 0, {}, "worker")};
}

SummarySentence receives(const Verdicts& verdicts) {
  const char* subject = "Receives into buffers from calloc";
  const auto apart = rates_apart(verdicts);
  if (!apart) {
    return unmeasured(subject, "Not measured: run `{}`.", "zerotax run --case recv_buffer --size 100MB");
  }
  const PointTax& slow = *apart->least;
  return {SummaryPart::kForWhom, subject,
          fmt::format("With buffers of {}, {} MB/s arrive with {} and {} MB/s with {}.",
                      format_given_size(slow.size_bytes), format_number(apart->high), label_of(verdicts, *apart->most),
                      format_number(apart->low), label_of(verdicts, slow)),
          PageLink{"receiving", slow.case_name, 0, slow.thread, slow.size_bytes}};
}

}  // namespace

std::vector<SummarySentence> summary_sentences(const Verdicts& verdicts, const SummaryRun& run) {
  Sentences told;
  add_broken(verdicts, told);
  add_lead(verdicts, told);
  Sentences sentences;
  add_warnings(run, sentences);
  sentences.push_back(headline(verdicts, told));
  sentences.insert(sentences.end(), told.begin(), told.end());
  for (const auto& of : {untouched, written, workers, receives}) sentences.push_back(of(verdicts));
  if (run.huge_pages) sentences.push_back({SummaryPart::kForWhom, "Runs with huge pages", *run.huge_pages});
  for (std::size_t n = 0; n < verdicts.allocators.size(); ++n) {
    const AllocatorTax& tax = verdicts.allocators[n];
    if (tax.redundant.known.empty() && tax.redundant.unknown.empty()) continue;
    const auto size = tax.worst ? std::optional(verdicts.points[*tax.worst].size_bytes) : std::nullopt;
    sentences.push_back(
        {SummaryPart::kEach, tax.label, allocator_text(verdicts, tax), loop_link("time", 0, size), {}, n});
  }
  const std::string left_out = run.times_left_out ? " " + *run.times_left_out : "";
  sentences.push_back({SummaryPart::kCoverage, "Coverage", coverage(verdicts) + left_out});
  return sentences;
}

}  // namespace zerotax::findings
