#pragma once

#include <pthread.h>

#include <atomic>
#include <climits>
#include <cstdint>

#include "clock.h"
#include "settings.h"

namespace zerotax::recorder {

struct Ring;

/// What the recorder knows about this process. A forked child has one of its own (become_child).
struct Process {
  std::atomic<bool> on{false};
  std::atomic<std::uint64_t> generation{0};  ///< counts starts, stops and forks: buffers of an earlier one are not used
  Settings settings;
  Clock clock;
  char folder[PATH_MAX] = "";  ///< of this process's trace; empty until it is made
  std::uint8_t uuid[16] = {};
  std::atomic<Ring*> rings{nullptr};
  std::atomic<std::uint64_t> next_ring{0};
  std::atomic<std::uint64_t> lost{0};           ///< records that belong to no stream
  std::atomic<std::uint64_t> lost_of_ended{0};  ///< of streams whose thread or trace has ended
  std::atomic<std::uint64_t> untold{0};         ///< of them: of streams that could not take their last packet
  std::atomic<bool> looks{false};               ///< every record takes the longer path, where its type is looked at
  std::atomic<bool> ends_by_event{false};       ///< a record may end the trace
  std::atomic<std::uint64_t> triggered{0};  ///< 1 + the generation of a trace that a record has ended; not yet written
  bool drain_runs = false;
  pthread_mutex_t start_stop_lock = PTHREAD_MUTEX_INITIALIZER;  ///< taken before the others
  pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;    ///< types, folder, metadata, new rings
  pthread_mutex_t drain_lock = PTHREAD_MUTEX_INITIALIZER;  ///< streams, and buffers that go; taken before registry_lock
};

// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): constinit says that it is not
extern constinit Process process;

/// Resets `process` for this process if it still describes the process that forked it. To be called before any other
/// use of it, from any thread or handler, even where no fork handler ran (MADV_WIPEONFORK detects the fork).
void become_child();

/// Prepares what become_child looks at. Returns 0 or an errno value.
int mark_process();

/// Whether this process has been marked: false in a child that has not recorded yet.
bool is_marked();

/// Creates the process's folder and its first metadata unless they exist. registry_lock is held. Returns 0 or an errno
/// value, which it reports.
int make_folder();

/// Removes a folder that holds nothing but metadata. registry_lock is held.
void remove_folder();

}  // namespace zerotax::recorder
