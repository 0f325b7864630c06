#include "exchange/forms.h"

#include <algorithm>
#include <regex>
#include <stdexcept>

namespace zerotax {

const std::map<std::string, std::string>& embedded_forms() {
  static const std::map<std::string, std::string> all{
#include "embedded_forms.inc"
  };
  return all;
}

const std::map<std::string, std::string>& embedded_reproducers() {
  static const std::map<std::string, std::string> all{
#include "embedded_reproducers.inc"
  };
  return all;
}

std::string fill_in(const std::string& text, const std::vector<std::pair<std::string, std::string>>& values) {
  // A single pass never replaces tokens within inserted values.
  static const std::regex token("@([A-Z_]+)@");
  std::string filled;
  auto rest = text.cbegin();
  for (std::sregex_iterator found(text.cbegin(), text.cend(), token), end; found != end; ++found) {
    const auto value =
        std::find_if(values.begin(), values.end(), [&](const auto& entry) { return entry.first == (*found)[1]; });
    if (value == values.end()) throw std::logic_error("nothing to fill in for " + found->str());
    filled.append(rest, (*found)[0].first);
    filled += value->second;
    rest = (*found)[0].second;
  }
  filled.append(rest, text.cend());
  return filled;
}

}  // namespace zerotax
