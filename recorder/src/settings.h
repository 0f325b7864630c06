#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>

#include "zerotax/recorder.h"

namespace zerotax::recorder {

struct Settings {
  char directory[PATH_MAX] = "";
  std::size_t buffer_bytes = std::size_t{4} << 20;
  int mode = ZEROTAX_TRACE_LOST;
  int drain = ZEROTAX_TRACE_DRAIN_THREAD;
  bool monotonic = false;
};

/// The settings of these options (may be NULL), of the environment where they say nothing, else the defaults. Returns
/// 0, or EINVAL, said on stderr with the remedy.
int read_settings(const zerotax_trace_options* options, Settings& settings);

}  // namespace zerotax::recorder
