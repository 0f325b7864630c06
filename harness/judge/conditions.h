#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace zerotax {

/// A condition of measurements: its key in documents, and its name for people.
struct ConditionRow {
  const char* key;
  const char* name;
  double slack = 0;  ///< numbers that differ by at most this share of the larger one are alike
};

/// A condition that is not the same in two measurements, or unknown in one of them.
struct ConditionDifference {
  std::string name;
  std::string before;  ///< in words; "unknown" if the measurement lacks it
  std::string after;
  bool may_explain = false;  ///< whether it could explain a change that was found; never if it is unknown
  std::string sentence;      ///< "kernel: 6.1.0 before, 6.18.44 now"
};
void to_json(Json& json, const ConditionDifference& value);

/// Compares the conditions of `rows` in two objects of conditions.
std::vector<ConditionDifference> differing_conditions(const std::vector<ConditionRow>& rows, const Json& before,
                                                      const Json& after);

}  // namespace zerotax
