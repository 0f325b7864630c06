#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "observe/fault_data.h"

namespace zerotax::cow {

/// What was watched, and how.
struct CowSubject {
  std::vector<std::string> command;  ///< empty: a running process
  pid_t pid = 0;                     ///< of the process watched
  std::string counted;               ///< "all", "first child", or "name NAME"
  double interval_s = 1;
  double wall_s = 0;
  int exit_status = 0;
  std::string started;
};

/// The object of "zerotax.cow/1" (results/schema/cow.schema.json).
Json cow_json(const CowSubject& subject, const FaultData& data, const Json& environment);

/// Adds to that object, or replaces, what is said of it: `copying_ended`, when an only child's copying ended;
/// `sentence`, how many pages were copied, by whom, and until when; `notes`, what one has to know to read the counts.
void add_verdict(Json& cow);

/// The summary for the terminal, from that object: totals, processes, and the mappings and code that copied most.
std::string cow_text(const Json& cow);

/// What to do next, as a command to paste: where pages were copied, what other ways there are to take a snapshot of as
/// much memory. Empty where nothing was copied.
std::string next_step(const Json& cow);

}  // namespace zerotax::cow
