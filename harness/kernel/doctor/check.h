#pragma once

#include <string>
#include <vector>

#include "base/measured.h"
#include "doctor/machine.h"

namespace zerotax::doctor {

/// What a state means for a run, worst last.
enum class Weight {
  kOk,
  kNote,     ///< worth knowing; metrics are right
  kLimits,   ///< some metrics or commands are unavailable (n/a); the others are right
  kSpoils,   ///< metrics measured now would be wrong, or could not be compared
  kStops,    ///< nothing can be measured
  kUnknown,  ///< it cannot be read, which does not matter
};

/// "ok", "note", "limits", "spoils", "stops", "unknown".
const char* weight_word(Weight weight);

/// A few words, or why they are not available.
struct State : Measured<std::string> {
  using Measured::Measured;
  State(const char* words) : Measured(std::string(words)) {}
  bool operator==(const State&) const = default;
};

/// One row of the table.
struct Finding {
  State state;
  Weight weight = Weight::kOk;
  std::string effect;  ///< which metrics or commands it affects, and how; empty with kOk
  std::string remedy;  ///< the exact command that would change it, which we never run; empty if there is none
};

/// The heading that a row belongs under.
enum class Topic { kCpu, kMemory, kKernel, kRights, kZerotax };
const char* topic_word(Topic topic);

/// One thing to check: one static object in a file of checks/, or one row of checks/settings.cc.
class Check {
 public:
  using Look = Finding (*)(const Machine&);
  Check(Topic topic, const char* name, Look look);

  Topic topic;
  const char* name;  ///< "huge pages": at most 20 characters
  Look look;
};

struct Row {
  Topic topic;
  std::string name;
  Finding finding;
};

/// Every check, by topic and name. A check that fails is a row, n/a with the reason.
std::vector<Row> examine(const Machine& machine);

/// The state of a check that only the running kernel can answer, when the files are from another machine.
Finding not_asked();

/// A state that could not be read.
Finding unknown(const std::string& why);

}  // namespace zerotax::doctor
