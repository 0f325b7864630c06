#include "prove/process_lines.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>
#include <utility>

#include "prove/process/record.h"

namespace zerotax::prove {
namespace {

constexpr const char* kFillNames[kFills] = {"nothing",     "all",   "last_page", "byte_per_page", "tail",
                                            "all_but_512", "zeros", "usable",    "first_64",      "both_ends"};

using Words = std::istringstream;

std::vector<std::uint64_t> numbers_in(Words& words) {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t number = 0; words >> number;) numbers.push_back(number);
  return numbers;
}

/// Returns the numbers of a line "NAME NUMBER NAME NUMBER ..." after its first name.
std::map<std::string, double> named_numbers(const std::string& first, Words& words) {
  std::map<std::string, double> numbers;
  std::string name = first;
  do {
    double number = 0;
    if (!(words >> number)) break;
    numbers[name] = number;
  } while (words >> name);
  return numbers;
}

/// Returns the finding in a line "finding NAME KEY=VALUE ...", or nothing for an unknown name.
std::optional<ProofFinding> finding_in(Words& words) {
  std::string name;
  words >> name;
  const std::vector<std::string> kinds = all_words<FindingKind>();
  const auto kind = std::find(kinds.begin(), kinds.end(), name);
  if (kind == kinds.end()) return std::nullopt;
  ProofFinding finding;
  finding.kind = static_cast<FindingKind>(kind - kinds.begin());
  const std::map<std::string, std::uint64_t*> numbers{
      {"n", &finding.n},           {"m", &finding.m},           {"alignment", &finding.alignment},
      {"thread", &finding.thread}, {"bytes", &finding.bytes},   {"at", &finding.at},
      {"detail", &finding.detail}, {"signal", &finding.detail}, {"status", &finding.detail}};
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) continue;
    const std::string value = word.substr(equals + 1);
    const std::string key = word.substr(0, equals);
    if (key == "function" && value != "-") finding.function = value;
    const auto number = numbers.find(key);
    if (number != numbers.end()) std::from_chars(value.data(), value.data() + value.size(), *number->second);
  }
  finding.sentence = finding_sentence(finding);
  return finding;
}

/// Adds a line "KEY NAME NUMBER" to a list.
void add_named(Words& words, std::vector<NamedCount>& all) {
  NamedCount each;
  if (words >> each.name >> each.count) all.push_back(each);
}

/// Returns the decade at a position of a line of counters.
ReusedDecade& decade_at(std::size_t at, Coverage& coverage) {
  while (coverage.reused.size() <= at) {
    const std::uint64_t from = coverage.reused.empty() ? 1 : coverage.reused.back().from_bytes * 10;
    coverage.reused.push_back({from, 0, 0, NotAvailable{"no page was watched for writes"}});
  }
  return coverage.reused[at];
}

void add_decades(const std::string& key, Words& words, Coverage& coverage) {
  const std::vector<std::uint64_t> numbers = numbers_in(words);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    ReusedDecade& decade = decade_at(i, coverage);
    if (key == "reused_by_decade_main") decade.main_thread = numbers[i];
    if (key == "reused_by_decade_other") decade.other_threads = numbers[i];
    if (key == "zeroed_by_nobody_by_decade") decade.zeroed_by_nobody = numbers[i];
  }
}

/// Adds a line of single counters.
void add_numbers(const std::string& key, Words& words, Coverage& coverage) {
  const std::map<std::string, std::uint64_t*> counters{
      {"episodes", &coverage.episodes},
      {"jobs", &coverage.processes},
      {"checked_bytes", &coverage.checked_bytes},
      {"null_results", &coverage.null_results},
      {"crashes_at_limit", &coverage.crashes_at_limit},
      {"zeroing_calls", &coverage.zeroing_calls},
      {"reused_freed_by_other_thread", &coverage.reused_from_other_thread},
      {"reused_pages", &coverage.reused_pages},
      {"unpopulated", &coverage.unpopulated_pages},
      {"features", &coverage.features}};
  for (const auto& [name, number] : named_numbers(key, words)) {
    if (name == "seconds") coverage.seconds = number;
    if (name == "watched_pages") coverage.watched_pages = static_cast<std::uint64_t>(number);
    if (name == "zeroed_by_nobody") coverage.zeroed_by_nobody = static_cast<std::uint64_t>(number);
    const auto counter = counters.find(name);
    if (counter != counters.end()) *counter->second = static_cast<std::uint64_t>(number);
  }
}

void add_coverage(const std::string& key, Words& words, Coverage& coverage) {
  if (key == "operations_of_kind") return add_named(words, coverage.operations);
  if (key == "reused_after") return add_named(words, coverage.reused_after);
  if (key.find("_by_decade") != std::string::npos) return add_decades(key, words, coverage);
  if (key == "reused_by_fill") {
    const std::vector<std::uint64_t> numbers = numbers_in(words);
    for (std::size_t i = 0; i < std::min<std::size_t>(kFills, numbers.size()); ++i) {
      coverage.reused_by_fill.push_back({kFillNames[i], numbers[i]});
    }
    return;
  }
  std::string first;
  const auto at = words.tellg();
  if (key == "zeroed_by_nobody" && words >> first && first == "na") {
    std::string why;
    std::getline(words >> std::ws, why);
    coverage.watched_pages = coverage.zeroed_by_nobody = NotAvailable{why.empty() ? "unknown" : why};
    return;
  }
  words.clear();
  words.seekg(at);
  add_numbers(key, words, coverage);
}

}  // namespace

ProcessLines parse_lines(const std::string& text) {
  ProcessLines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    Words words(line);
    std::string key;
    words >> key;
    lines.last = line;
    if (key == "stopped" || key == "error") lines.last = line.substr(std::min(line.size(), key.size() + 1));
    if (key == "interrupted") lines.is_interrupted = true;
    if (key == "finding") {
      if (!lines.finding) lines.finding = finding_in(words);
    } else if (key == "missing") {
      if (std::string symbol; words >> symbol) lines.missing.push_back(symbol);
    } else {
      add_coverage(key, words, lines.coverage);
    }
  }
  return lines;
}

}  // namespace zerotax::prove
