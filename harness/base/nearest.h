#pragma once

#include <string>
#include <vector>

namespace zerotax {

/// "did you mean NAME? " where one of the names is `word` but for its case or one or two letters; else nothing.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& names);

}  // namespace zerotax
