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

// A thread may still be recording for the previous trace, without effect, while the next one gets its settings.
inline int mode_of(const Settings& settings) { return __atomic_load_n(&settings.mode, __ATOMIC_RELAXED); }
inline int drain_of(const Settings& settings) { return __atomic_load_n(&settings.drain, __ATOMIC_RELAXED); }
inline void set_drain(Settings& settings, int drain) { __atomic_store_n(&settings.drain, drain, __ATOMIC_RELAXED); }

/// Copies `from`, what those may read with one store each. registry_lock is held, which guards the names of events.
void take_over(const Settings& from, Settings& to);

/// Takes each setting from these options (may be NULL), otherwise from the environment, otherwise its default. Returns
/// 0, or EINVAL, which it reports on stderr with the remedy.
int read_settings(const zerotax_trace_options* options, Settings& settings);

}  // namespace zerotax::recorder
