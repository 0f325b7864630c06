#include "base/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace zerotax {
namespace {

std::string lower(std::string text) {
  for (char& each : text) each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
  return text;
}

/// Letters to insert, leave out or replace (Levenshtein, 1965).
std::size_t distance(const std::string& one, const std::string& other) {
  std::vector<std::size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < one.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < other.size(); ++j) {
      const std::size_t replaced = diagonal + (one[i] == other[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::string did_you_mean(const std::string& word, const std::vector<std::string>& names) {
  constexpr std::size_t kMostLetters = 2;
  constexpr std::size_t kLongest = 100;  // no name is that long, and the table would be large
  if (word.empty() || word.size() > kLongest) return "";
  std::size_t least = kMostLetters + 1;
  const std::string* best = nullptr;
  for (const std::string& name : names) {
    const std::size_t letters = distance(lower(word), lower(name));
    // Two letters of three are more than a typing error.
    if (letters < least && letters * 2 < word.size()) {
      least = letters;
      best = &name;
    }
  }
  return best == nullptr ? "" : "did you mean " + *best + "? ";
}

}  // namespace zerotax
