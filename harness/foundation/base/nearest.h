#pragma once

#include <string>
#include <vector>

namespace zerotax {

/// Returns "did you mean NAME? " or "". NAME differs from `word` only in case, differs in one or two letters, or is the
/// only name that begins with `word`. Two exchanged letters count as one.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& names);

/// Returns the choices as a remedy: "choose main or worker" for two names, otherwise "choose: low, medium, high".
std::string choices_text(const std::vector<std::string>& names);

/// Throws UsageError with the problem, and a remedy that suggests the nearest name and lists the choices.
[[noreturn]] void refuse_word(const std::string& problem, const std::string& word,
                              const std::vector<std::string>& names);

/// Throws UsageError unless `word` is one of the names: "invalid --cost 'totl': did you mean total? choose calloc or
/// total". `what` is the option, such as "--cost".
void check_word(const std::string& what, const std::string& word, const std::vector<std::string>& names);

}  // namespace zerotax
