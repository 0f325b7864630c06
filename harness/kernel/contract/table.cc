#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/lines.h"
#include "base/shell.h"
#include "base/units.h"
#include "contract/result.h"

namespace zerotax::contract {
namespace {

const char* short_word(Verdict verdict) {
  return verdict == Verdict::kUnsupported ? "no" : verdict == Verdict::kNotTestable ? "n/a" : word(verdict);
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
      wrap(!made.shown.status
               ? "this program should show the broken promise; the program was not run: " + made.shown.status.why()
           : *made.shown.shows_it
               ? "this program was compiled and run, and shows the broken promise:"
               : fmt::format("this program was compiled and run, and did not show the broken promise (status {}):",
                             *made.shown.status),
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
  text = palette.first_in(text, Tone::kWorse, word(result.verdict));
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

std::string headline(const Results& all) {
  std::string sentence = verdict_sentence(all.results);
  if (!all.system) return sentence;
  const System& of = *all.system;
  return fmt::format("{} The tests ran on {} {} ({}) as {}{}.", sentence, of.system, of.kernel, of.machine,
                     of.user_id == 0 ? "root" : fmt::format("user {}", of.user_id),
                     all.under.empty() ? "" : fmt::format(", under {}", shell_text(all.under)));
}

/// Promises that were not kept. Broken promises come first.
std::vector<const Result*> not_kept(const Results& all) {
  std::vector<const Result*> found;
  for (const Verdict verdict : {Verdict::kBroken, Verdict::kNotTestable, Verdict::kUnsupported}) {
    for (const Result& each : all.results) {
      if (each.verdict == verdict) found.push_back(&each);
    }
  }
  return found;
}

/// Describes a broken promise with its evidence and the programs that rely on it.
std::string where(const Result& broken) {
  std::string text = fmt::format("{} is broken: {}", broken.promise.id, broken.promise.statement);
  if (broken.evidence)
    text += fmt::format(" At {:#x}, the test read {}.", broken.evidence->address, broken.evidence->found);
  std::vector<std::string> names;
  for (const Reliance& one : broken.promise.relied_on_by) names.push_back(one.who);
  if (names.empty()) return text;
  return fmt::format("{} {} {} on it.", text, fmt::join(names, ", "), names.size() == 1 ? "relies" : "rely");
}

/// The next command, which writes bug reports or repeats the tests as root.
std::vector<Answer::Step> steps(const Results& all, const Request& request) {
  std::vector<std::string> words{"zerotax", "contract"};
  if (!request.read.empty()) words.insert(words.end(), {"--results", request.read});
  if (!all.under.empty()) words.insert(words.end(), {"--under", fmt::format("{}", fmt::join(all.under, " "))});
  if (count(all.results, Verdict::kBroken) != 0) {
    for (const Result& each : all.results) {
      if (request.read.empty() && each.verdict == Verdict::kBroken)
        words.insert(words.end(), {"--promise", each.promise.id});
    }
    words.insert(words.end(), {"--report", "contract-reports"});
    return {{shell_text(words), "write a bug report for each broken promise:"}};
  }
  const bool needs_root = all.system && all.system->user_id != 0 && count(all.results, Verdict::kNotTestable) != 0;
  if (!needs_root || !request.read.empty()) return {};
  return {{"sudo " + shell_text(words), "test promises that need root:"}};
}

/// A warning about the race with the fewest tries, if the time limit ended it.
std::string races_warning(const Results& all) {
  constexpr std::uint64_t kAllTries = 10'000;
  const Result* fewest = nullptr;
  for (const Result& each : all.results) {
    if (!each.tries || each.verdict != Verdict::kKept || *each.tries >= kAllTries) continue;
    if (fewest == nullptr || *each.tries < *fewest->tries) fewest = &each;
  }
  if (fewest == nullptr) return "";
  return fmt::format("{} was tried {} in {}, so a rare failure may be missed; --seconds gives each race more time.",
                     fewest->promise.id, format_counted(*fewest->tries, "time"), format_ns(fewest->seconds * 1e9));
}

}  // namespace

Answer contract_answer(const Results& all, const Request& request) {
  constexpr std::size_t kLongestDetail = 51;
  const std::vector<const Result*> found = not_kept(all);
  Answer answer;
  answer.headline = headline(all);
  Table table({{"verdict"}, {"promise"}, {"observation"}});
  for (const Result* each : found) {
    table.add({short_word(each->verdict), each->promise.id, first_characters(detail_of(*each), kLongestDetail)});
  }
  answer.table = std::move(table);
  if (!found.empty() && found.front()->verdict == Verdict::kBroken) answer.where = where(*found.front());
  answer.steps = steps(all, request);
  if (!all.complete) answer.warnings.emplace_back("The run was stopped early, so some promises are missing.");
  if (std::string races = races_warning(all); !races.empty()) answer.warnings.push_back(std::move(races));
  if (count(all.results, Verdict::kUnsupported) != 0) answer.legend = "no: this kernel lacks the system call.";
  answer.more = "All promises, evidence and programs that show a broken promise";
  return answer;
}

std::string contract_text(const Results& all, const Palette& palette) {
  std::string text = wrap(headline(all));
  const std::string* family = nullptr;
  for (const Result& each : all.results) {
    if (family == nullptr || *family != each.promise.family) text += fmt::format("\n{}\n", each.promise.family);
    text += result_text(each, palette);
    family = &each.promise.family;
  }
  return text;
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
