#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "top/view.h"

namespace zerotax::top {

/// The options of the command line.
struct Request {
  double interval_s = 1;
  std::optional<std::uint64_t> samples;
  View view;
  bool has_rows = false;
  std::string json;
  std::string log;
  std::uint64_t log_bytes = 0;
  std::string prometheus;
};

/// Runs until all samples are taken, a signal or a key ends the command, or each process of --pid has ended. Throws
/// UsageError or MachineError.
ExitStatus run_top(const Request& request);

}  // namespace zerotax::top
