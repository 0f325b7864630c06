#include "base/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "base/error.h"

namespace zerotax {
namespace {

std::string lower(std::string text) {
  for (char& each : text) each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
  return text;
}

/// Counts the edits between two words: letters inserted, removed or replaced, and neighbors exchanged. Source: Damerau,
/// 1964, in the variant "optimal string alignment", which edits no part twice.
std::size_t distance(const std::string& one, const std::string& other) {
  std::vector<std::vector<std::size_t>> table(one.size() + 1, std::vector<std::size_t>(other.size() + 1));
  for (std::size_t i = 0; i <= one.size(); ++i) table[i][0] = i;
  for (std::size_t j = 0; j <= other.size(); ++j) table[0][j] = j;
  for (std::size_t i = 1; i <= one.size(); ++i) {
    for (std::size_t j = 1; j <= other.size(); ++j) {
      const std::size_t replaced = table[i - 1][j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1);
      table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, replaced});
      const bool exchanged = i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
      if (exchanged) table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
    }
  }
  return table.back().back();
}

/// Returns the only name that begins with the word. Returns nullptr if the word is too short, or if several names begin
/// with it.
const std::string* only_one_with_prefix(const std::string& word, const std::vector<std::string>& names) {
  constexpr std::size_t kShortest = 3;
  if (word.size() < kShortest) return nullptr;
  const std::string* found = nullptr;
  for (const std::string& name : names) {
    if (!lower(name).starts_with(word)) continue;
    if (found != nullptr) return nullptr;
    found = &name;
  }
  return found;
}

}  // namespace

std::string did_you_mean(const std::string& word, const std::vector<std::string>& names) {
  constexpr std::size_t kMostLetters = 2;
  constexpr std::size_t kLongest = 100;  // no name is longer, and a longer word would need a large table of distances
  if (word.empty() || word.size() > kLongest) return "";
  const std::string given = lower(word);
  std::size_t least = kMostLetters + 1;
  const std::string* best = nullptr;
  for (const std::string& name : names) {
    const std::size_t letters = distance(given, lower(name));
    // Two wrong letters out of three are more than a typing error.
    if (letters < least && letters * 2 < given.size()) {
      least = letters;
      best = &name;
    }
  }
  if (best == nullptr) best = only_one_with_prefix(given, names);
  return best == nullptr ? "" : "did you mean " + *best + "? ";
}

std::string choices_text(const std::vector<std::string>& names) {
  if (names.size() == 2) return fmt::format("choose {} or {}", names[0], names[1]);
  return fmt::format("choose: {}", fmt::join(names, ", "));
}

void refuse_word(const std::string& problem, const std::string& word, const std::vector<std::string>& names) {
  throw UsageError(problem, did_you_mean(word, names) + choices_text(names));
}

void check_word(const std::string& what, const std::string& word, const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), word) != names.end()) return;
  refuse_word(fmt::format("invalid {} '{}'", what, word), word, names);
}

}  // namespace zerotax
