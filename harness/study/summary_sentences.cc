#include "study/summary_sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/size.h"
#include "base/units.h"
#include "study/apart.h"
#include "study/summary.h"
#include "study/summary_words.h"

namespace zerotax::study {

using findings::AllocatorTax;
using findings::Answer;
using findings::PointVerdict;
using findings::Verdicts;
namespace {

Json sentence(const char* part, const std::string& subject, const std::string& text, Json link = nullptr) {
  Json json{{"part", part}, {"subject", subject}, {"text", text}};
  if (!link.is_null()) json["link"] = std::move(link);
  return json;
}

Json with_command(Json json, const char* command) {
  json["command"] = command;
  return json;
}

std::string label_of(const Verdicts& verdicts, const PointVerdict& point) {
  return verdicts.allocators[point.allocator].label;
}

/// "1.00 µs with glibc 2.36 and 2.00 ms with mimalloc 2.0.9: 2,000 times as long".
std::string apart_text(const Verdicts& verdicts, const Apart& apart) {
  return fmt::format("{} with {} and {} with {}: {}{}", format_ns(apart.low), label_of(verdicts, *apart.least),
                     format_ns(apart.high), label_of(verdicts, *apart.most), times_text(apart.ratio()),
                     apart.ratio() < findings::kLevelRatio ? "" : " as long");
}

/// Broken promises: memory that was not zero, crashes and the like, by allocator.
void add_broken(const Verdicts& verdicts, Json& sentences) {
  static const std::vector<std::pair<PointStatus, const char*>> kWords{
      {PointStatus::kNotZero, "handed out memory that was not all zero"},
      {PointStatus::kMisaligned, "handed out blocks that were not aligned for every type"},
      {PointStatus::kCrashed, "crashed"},
      {PointStatus::kTimeout, "did not end in time"},
      {PointStatus::kFailed, "failed"},
      {PointStatus::kSkipped, "was left out"}};
  for (const auto& [status, words] : kWords) {
    for (std::size_t allocator = 0; allocator < verdicts.allocators.size(); ++allocator) {
      const PointVerdict* first = nullptr;
      std::uint64_t points = 0;
      for (const PointVerdict& point : verdicts.points) {
        if (point.status != status || point.allocator != allocator) continue;
        ++points;
        if (first == nullptr || point.size_bytes < first->size_bytes) first = &point;
      }
      if (first == nullptr) continue;
      const std::string more =
          points > 1 ? fmt::format(" and at {}", format_counted(points - 1, "more point")) : std::string();
      sentences.push_back(sentence("broken", label_of(verdicts, *first),
                                   fmt::format("{} at {}{}: {}.", words, format_size(first->size_bytes), more,
                                               first->reason.empty() ? "no reason given" : first->reason),
                                   Json{{"section", "failures"}}));
    }
  }
}

/// "1 of 2 allocators writes zeros …: mimalloc 2.0.9 at every size and glibc 2.36 at some sizes."
std::string who_pays(const Verdicts& verdicts) {
  std::map<std::string, std::vector<std::string>> names;
  for (const AllocatorTax& tax : verdicts.allocators) {
    if (!tax.redundant.known.empty() || !tax.redundant.unknown.empty())
      names[tax.redundant.word()].push_back(tax.label);
  }
  const std::uint64_t paying = names["always"].size() + names["some"].size();
  const std::uint64_t judged = paying + names["never"].size();
  if (judged == 0) return "";
  std::string text = fmt::format("{} of {} {} zeros over memory that is zero already, though the program wrote nothing",
                                 paying == 0 ? "None" : format_count(paying), format_counted(judged, "allocator"),
                                 paying <= 1 ? "writes" : "write");
  const auto told = [](const std::vector<std::string>& who, const char* where) {
    return who.empty() ? "" : fmt::format("{} {}", listed(who), where);
  };
  const std::string always = told(names["always"], "at every size measured");
  const std::string some = told(names["some"], "at some sizes");
  if (paying > 0) text += ": " + always + (always.empty() || some.empty() ? "" : "; ") + some;
  text += ".";
  if (paying > 0 && !names["never"].empty()) {
    text += fmt::format(" {} never {}.", listed(names["never"]), names["never"].size() == 1 ? "does" : "do");
  }
  if (!names["unknown"].empty()) text += fmt::format(" Of {} it is not known.", listed(names["unknown"]));
  return text;
}

void add_lead(const Verdicts& verdicts, Json& sentences) {
  const auto calloc_ns = [](const PointVerdict& point) { return point.calloc_ns; };
  if (const auto apart = furthest_apart(verdicts, findings::is_untouched_loop, calloc_ns, findings::kLeastNs)) {
    const std::uint64_t size = apart->least->size_bytes;
    sentences.push_back(sentence("lead", "How far apart they are",
                                 fmt::format("One calloc of {} that nobody writes to takes {}.", format_size(size),
                                             apart_text(verdicts, *apart)),
                                 link_to("time", "calloc_loop", 0, "main", size)));
  }
  if (const std::string text = who_pays(verdicts); !text.empty()) {
    sentences.push_back(
        sentence("lead", "Redundant zeroing", text, link_to("heat", "calloc_loop", 0, "main", std::nullopt)));
  }
}

std::string coverage(const Verdicts& verdicts) {
  const auto bad = static_cast<std::uint64_t>(std::count_if(verdicts.points.begin(), verdicts.points.end(),
                                                            [](const PointVerdict& point) { return !point.is_ok(); }));
  return fmt::format("From {} of {}{}.", format_counted(verdicts.points.size(), "point"),
                     format_counted(verdicts.allocators.size(), "allocator"),
                     bad > 0 ? fmt::format(", {} of them without a result", format_count(bad)) : "");
}

/// "it writes zeros over 1,048,576,000 bytes that are zero already", or nothing where it does not.
std::string needless_words(const PointVerdict& point) {
  if (!point.calls || point.calls->empty()) return "";
  const findings::RedundantCalls& calls = point.calls->front();
  return fmt::format("{} {} zeros over {} bytes that are zero already",
                     calls.every() ? "it" : findings::which_calls(calls),
                     calls.every() || calls.ops == 1 ? "writes" : "write", findings::redundant_words(calls));
}

/// The worst case of needless zeroing of all allocators, or nothing where none is known to.
const PointVerdict* worst_of_all(const Verdicts& verdicts) {
  const PointVerdict* worst = nullptr;
  for (const AllocatorTax& tax : verdicts.allocators) {
    if (!tax.worst) continue;
    const PointVerdict& point = verdicts.points[*tax.worst];
    if (point.redundant() != Answer::kYes || !point.calloc_ns || needless_words(point).empty()) continue;
    if (worst == nullptr || point.ratio.value_or(0) > worst->ratio.value_or(0)) worst = &point;
  }
  return worst;
}

/// The first sentence of a part of the summary; nullptr if there is none.
const Json* first_of_part(const Json& sentences, const char* part) {
  const auto found =
      std::find_if(sentences.begin(), sentences.end(), [&](const Json& each) { return each.at("part") == part; });
  return found == sentences.end() ? nullptr : &*found;
}

/// What writes the zeros takes the time: where only some calls do, it is theirs, and so is the ratio.
Json worst_case(const Verdicts& verdicts, const PointVerdict& worst) {
  const findings::RedundantCalls& calls = worst.calls->front();
  const bool some = !calls.every() && calls.calloc_ns;
  const double ns = some ? *calls.calloc_ns : *worst.calloc_ns;
  std::string text =
      fmt::format("{} takes {} for {} of {} that nobody writes to", label_of(verdicts, worst), format_ns(ns),
                  some ? findings::which_calls(calls) : "a calloc", format_size(worst.size_bytes));
  const double ratio = worst.fastest_ns ? ns / *worst.fastest_ns : 0;
  if (ratio >= findings::kLevelRatio) {
    text += fmt::format(", {} as long as {} ({})", times_text(ratio), verdicts.allocators[*worst.fastest].label,
                        format_ns(*worst.fastest_ns));
  }
  text += some ? fmt::format(": zeros over {} bytes that are zero already.", findings::redundant_words(calls))
               : fmt::format(": {}.", needless_words(worst));
  return sentence("headline", "Worst case", text, link_to("time", "calloc_loop", 0, "main", worst.size_bytes));
}

/// The one sentence to read first: a promise that was broken, or the worst case of needless zeroing, or the first that
/// is known.
Json headline(const Verdicts& verdicts, const Json& sentences) {
  if (const Json* broken = first_of_part(sentences, "broken")) {
    const auto subject = broken->at("subject").get<std::string>();
    return sentence("headline", subject, subject + " " + broken->at("text").get<std::string>(),
                    broken->value("link", Json()));
  }
  if (const PointVerdict* worst = worst_of_all(verdicts)) return worst_case(verdicts, *worst);
  if (const Json* lead = first_of_part(sentences, "lead")) {
    return sentence("headline", lead->at("subject").get<std::string>(), lead->at("text").get<std::string>(),
                    lead->value("link", Json()));
  }
  return sentence("headline", "Coverage", coverage(verdicts));
}

/// What spoils the run as a whole: that it is not complete, that others kept the machine busy. `run`: as in the
/// summary.
void add_warnings(const Json& run, Json& sentences) {
  if (const Json& unfinished = run.at("unfinished"); unfinished.is_string()) {
    sentences.push_back(sentence("warning", "Not complete", unfinished.get<std::string>()));
  }
  if (const std::string load = load_sentence(run.value("load", Json())); !load.empty()) {
    sentences.push_back(sentence("warning", "Load", load));
  }
}

Json untouched(const Verdicts& verdicts) {
  const char* subject = "Callocs big blocks and writes little of them (receive buffers, sparse tables)";
  std::vector<std::string> slow;
  bool compared = false;
  for (const AllocatorTax& tax : verdicts.allocators) {
    compared = compared || !tax.slow.known.empty();
    if (!tax.slow.spans.empty()) slow.push_back(fmt::format("{} at {}", tax.label, ranges_text(tax.slow)));
  }
  if (!compared)
    return sentence("for_whom", subject, "Not known: no two allocators were measured at the same size with touch 0.");
  const Json link = link_to("time", "calloc_loop", 0, "main", std::nullopt);
  if (slow.empty()) return sentence("for_whom", subject, "No allocator measured is slow there.", link);
  std::string text;
  for (const std::string& each : slow) text += (text.empty() ? "" : "; ") + each;
  return sentence("for_whom", subject, fmt::format("Slow: {}.", text), link);
}

Json written(const Verdicts& verdicts) {
  const char* subject = "Writes all of what it callocs";
  const auto meant = [](const PointVerdict& point) {
    return point.case_name == "calloc_loop" && point.touch == 1 && point.thread == "main";
  };
  const auto apart = furthest_apart(
      verdicts, meant, [](const PointVerdict& point) { return point.operation_ns; }, findings::kLeastNs);
  if (!apart) {
    return with_command(sentence("for_whom", subject, "Not measured: run `zerotax run --touch 1 --size 100MiB`."),
                        "zerotax run --touch 1 --size 100MiB");
  }
  const std::uint64_t size = apart->least->size_bytes;
  Json link = link_to("time", "calloc_loop", 1, "main", size);
  link["columns"] = Json{{"time.f", "whole_ns"}};
  return sentence("for_whom", subject,
                  fmt::format("At {}, calloc, writing every page and free together take {}.", format_size(size),
                              apart_text(verdicts, *apart)),
                  link);
}

Json workers(const Verdicts& verdicts) {
  const char* subject = "Callocs in threads";
  std::size_t points = 0;
  std::vector<std::string> differ;
  for (const AllocatorTax& tax : verdicts.allocators) {
    points += tax.worker_points;
    if (!tax.worker_differs.empty()) differ.push_back(tax.label);
  }
  if (points == 0) {
    return with_command(sentence("for_whom", subject,
                                 "Worker threads were not measured: run `zerotax study --full`, or `zerotax run "
                                 "--thread worker --size 100MiB`."),
                        "zerotax study --full");
  }
  const Json link = link_to("heat", "calloc_loop", 0, "worker", std::nullopt);
  if (!differ.empty()) {
    return sentence("for_whom", subject,
                    fmt::format("On worker threads {} {} other bytes needlessly than on the main thread.",
                                listed(differ), differ.size() == 1 ? "zeroes" : "zero"),
                    link);
  }
  return sentence("for_whom", subject,
                  fmt::format("Worker threads pay for the same needless zeros as the main thread, with every "
                              "allocator, at each of {}.",
                              format_counted(points, "point")),
                  link);
}

Json receives(const Verdicts& verdicts) {
  const char* subject = "Receives into buffers from calloc";
  const auto apart = rates_apart(verdicts);
  if (!apart) {
    return with_command(
        sentence("for_whom", subject, "Not measured: run `zerotax run --case recv_buffer --size 100MB`."),
        "zerotax run --case recv_buffer --size 100MB");
  }
  const PointVerdict& slow = *apart->least;
  return sentence("for_whom", subject,
                  fmt::format("With buffers of {}, {} MB/s arrive with {} and {} MB/s with {}.",
                              format_given_size(slow.size_bytes), format_number(apart->high),
                              label_of(verdicts, *apart->most), format_number(apart->low), label_of(verdicts, slow)),
                  link_to("receiving", slow.case_name, 0, slow.thread, slow.size_bytes));
}

}  // namespace

Json link_to(const char* figure, const std::string& case_name, double touch, const std::string& thread,
             std::optional<std::uint64_t> size_bytes) {
  Json link{{"figure", figure}, {"case", case_name}, {"touch", touch}, {"thread", thread}};
  if (size_bytes) link["size_bytes"] = *size_bytes;
  return link;
}

Json summary_sentences(const Verdicts& verdicts, const Json& run, const std::string& left_out) {
  Json told = Json::array();
  add_broken(verdicts, told);
  add_lead(verdicts, told);
  Json sentences = Json::array();
  add_warnings(run, sentences);
  sentences.push_back(headline(verdicts, told));
  for (Json& each : told) sentences.push_back(std::move(each));
  for (const auto& of : {untouched, written, workers, receives}) sentences.push_back(of(verdicts));
  for (std::size_t n = 0; n < verdicts.allocators.size(); ++n) {
    const AllocatorTax& tax = verdicts.allocators[n];
    if (tax.redundant.known.empty() && tax.redundant.unknown.empty()) continue;
    const auto size = tax.worst ? std::optional(verdicts.points[*tax.worst].size_bytes) : std::nullopt;
    Json each =
        sentence("each", tax.label, allocator_text(verdicts, tax), link_to("time", "calloc_loop", 0, "main", size));
    each["allocator"] = n;
    sentences.push_back(std::move(each));
  }
  sentences.push_back(sentence("coverage", "Coverage", coverage(verdicts) + (left_out.empty() ? "" : " " + left_out)));
  return sentences;
}

}  // namespace zerotax::study
