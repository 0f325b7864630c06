#pragma once

#include <string>
#include <vector>

namespace zerotax {

/// "did you mean NAME? " if one of the names differs from `word` only in case or in one or two letters (two that are
/// exchanged count as one), or if it alone begins with `word`; else nothing.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& names);

/// "choose main or worker", or "choose: low, medium, high".
std::string choices_text(const std::vector<std::string>& names);

/// Throws UsageError: the problem, and as its remedy what was probably meant and the choices.
[[noreturn]] void refuse_word(const std::string& problem, const std::string& word,
                              const std::vector<std::string>& names);

/// Throws UsageError unless `word` is one of the names: "invalid --cost 'totl': did you mean total? choose calloc or
/// total". `what`: "--cost".
void check_word(const std::string& what, const std::string& word, const std::vector<std::string>& names);

}  // namespace zerotax
