#include <fmt/format.h>

#include "base/units.h"
#include "base/wrap.h"
#include "contract/promise.h"

namespace zerotax::contract {
namespace {

const char* short_word(Verdict verdict) {
  return verdict == Verdict::kUnsupported ? "no" : verdict == Verdict::kNotTestable ? "n/a" : word_of(verdict);
}

std::string detail_of(const Result& result) {
  std::string text = result.detail;
  if (result.tries) {
    text += fmt::format("{}{} in {}", text.empty() ? "" : "; ", format_counted(*result.tries, "try", "tries"),
                        format_ns(result.seconds * 1e9));
  }
  return text;
}

std::string reproducer_text(const Reproducer& made, const std::string& margin) {
  std::string text =
      wrap(!made.shown.why_not.empty() ? "this program should show it; it was not run: " + made.shown.why_not
           : made.shown.status == 1
               ? "this program was compiled and run, and shows it:"
               : fmt::format("this program was compiled and run, and did not show it (status {}):", made.shown.status),
           margin, margin);
  for (std::size_t at = 0; at < made.program.size();) {
    const std::size_t end = std::min(made.program.find('\n', at), made.program.size());
    text += end == at ? "\n" : margin + "  " + made.program.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return text;
}

std::string result_text(const Result& result, const Palette& palette) {
  const std::string first = fmt::format("  {:<7} {:<20} ", short_word(result.verdict), result.promise.id);
  const std::string margin(10, ' ');
  std::string text = wrap(detail_of(result).empty() ? result.promise.statement : detail_of(result), first,
                          std::string(first.size(), ' '));
  if (result.verdict != Verdict::kBroken) return text;
  text = palette.first_in(text, Tone::kWorse, word_of(result.verdict));
  text += wrap(result.promise.statement, margin, margin);
  for (const Reliance& one : result.promise.relied_on_by) {
    text += wrap(fmt::format("relied on by {}{}{}", one.who, one.where.empty() ? "" : ": ", one.where), margin, margin);
  }
  if (result.evidence) {
    text += wrap(fmt::format("at {:#x}: {}", result.evidence->address, result.evidence->found), margin, margin);
  }
  if (result.reproducer) text += reproducer_text(*result.reproducer, margin);
  return text;
}

}  // namespace

std::string contract_text(const std::vector<Result>& results, const Palette& palette) {
  std::string text;
  const std::string* family = nullptr;
  for (const Result& each : results) {
    if (family == nullptr || *family != each.promise.family) {
      text += fmt::format("{}{}\n", family == nullptr ? "" : "\n", each.promise.family);
    }
    text += result_text(each, palette);
    family = &each.promise.family;
  }
  return text + "\n" + wrap(verdict_sentence(results), "", "");
}

std::string promises_text(const std::vector<Promise>& promises) {
  std::string text;
  for (const Promise& each : promises) {
    text += wrap(each.statement, fmt::format("{:<21} ", each.id), std::string(22, ' '));
    for (const Reliance& one : each.relied_on_by) {
      text += wrap(fmt::format("{}{}{}", one.who, one.where.empty() ? "" : ": ", one.where), std::string(24, ' '),
                   std::string(26, ' '));
    }
  }
  return text;
}

}  // namespace zerotax::contract
