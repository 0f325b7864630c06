#pragma once

#include <string>

#include "history/bisect.h"

namespace zerotax::history {

/// What each process that `git bisect run` starts reads from a file. It appends its answer to another.
struct BisectJob {
  std::string repository;  ///< the private one
  std::string cache;
  Recipe recipe;
  unsigned jobs = 1;
  double build_timeout_s = 0;
  Question question;
  int owner = 0;      ///< the process that waits; without it a step ends
  std::string steps;  ///< file: a line of JSON for each step
};

Json to_json(const BisectJob& job);
BisectJob job_from_json(const Json& json);

/// {"commit", "answer", "value"}, and back.
Json to_json(const BisectStep& step);
BisectStep step_from_json(const Json& json);

}  // namespace zerotax::history
