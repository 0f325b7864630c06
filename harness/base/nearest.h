#pragma once

#include <string>
#include <vector>

namespace zerotax {

/// "did you mean NAME? " if one of the names differs from `word` only in case or in one or two letters; else nothing.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& names);

}  // namespace zerotax
