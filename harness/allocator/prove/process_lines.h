#pragma once

#include <optional>
#include <string>
#include <vector>

#include "prove/result.h"

namespace zerotax::prove {

/// The lines of zerotax-prove-calls that zerotax uses. Other lines are ignored.
struct ProcessLines {
  std::optional<ProofFinding> finding;
  std::vector<std::string> missing;  ///< functions that the library lacks
  Coverage coverage;
  bool is_interrupted = false;
  std::string last;  ///< last line; the reason if the process stopped early
};
ProcessLines parse_lines(const std::string& text);

}  // namespace zerotax::prove
