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
  char events[1024] = "";
  char until[256] = "";
};

// Accesses settings atomically. A thread may still record for the previous trace, without effect, while the next trace
// gets its settings.
inline int mode_of(const Settings& settings) { return __atomic_load_n(&settings.mode, __ATOMIC_RELAXED); }
inline int drain_of(const Settings& settings) { return __atomic_load_n(&settings.drain, __ATOMIC_RELAXED); }
inline void set_drain(Settings& settings, int drain) { __atomic_store_n(&settings.drain, drain, __ATOMIC_RELAXED); }

/// Copies `from`. Settings that other threads may read are copied with one store each. The caller must hold
/// registry_lock, which guards the event names.
void take_over(const Settings& from, Settings& to);

/// Reads each setting from the options (may be NULL), or from the environment, or takes the default. Returns 0, or
/// EINVAL, which is reported on stderr with the remedy.
int read_settings(const zerotax_trace_options* options, Settings& settings);

}  // namespace zerotax::recorder
