#pragma once

#include <pthread.h>

#include <atomic>
#include <climits>
#include <cstdint>

#include "clock.h"
#include "settings.h"

namespace zerotax::recorder {

struct Ring;

/// The recorder's state in this process. A forked child has a state of its own (become_child).
struct Process {
  std::atomic<bool> on{false};
  std::atomic<std::uint64_t> generation{0};  ///< number of starts, stops and forks so far; buffers of an earlier
                                             ///< generation are not used
  Settings settings;
  Clock clock;
  char folder[PATH_MAX] = "";  ///< folder of this process's trace; empty until it is made
  std::uint8_t uuid[16] = {};
  std::atomic<Ring*> rings{nullptr};
  std::atomic<std::uint64_t> next_ring{0};
  std::atomic<std::uint64_t> lost{0};           ///< lost records that belong to no stream
  std::atomic<std::uint64_t> lost_of_ended{0};  ///< lost records of streams whose thread or trace has ended
  std::atomic<std::uint64_t> untold{0};         ///< the part of lost_of_ended that streams could not report, because
                                                ///< there was no room for a last packet
  std::atomic<bool> looks{false};               ///< whether every record takes the slow path, which checks its type
  std::atomic<bool> ends_by_event{false};       ///< whether a record may end the trace
  std::atomic<std::uint64_t> triggered{0};  ///< 1 + the generation of a trace that a record has ended and that is not
                                            ///< yet written
  bool drain_runs = false;
  pthread_mutex_t start_stop_lock = PTHREAD_MUTEX_INITIALIZER;  ///< lock for start and stop; taken before the other
                                                                ///< locks
  pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;    ///< lock for types, folder, metadata and new buffers
  pthread_mutex_t drain_lock = PTHREAD_MUTEX_INITIALIZER;       ///< lock for streams, and buffers being removed; taken
                                                                ///< before registry_lock
};

// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): constinit says that it is not
extern constinit Process process;

/// Resets `process` if it still describes the process that forked this one. Must be called before any other use of
/// `process`, from any thread or handler. Works even if no fork handler ran, because MADV_WIPEONFORK detects the fork.
void become_child();

/// Prepares the mark that become_child checks. Returns 0 or an errno value.
int mark_process();

/// Whether this process has been marked. Returns false in a child that has not recorded yet.
bool is_marked();

/// Creates the process's folder and its first metadata unless they exist. The caller must hold registry_lock. Returns 0
/// or an errno value, and reports an error.
int make_folder();

/// Removes a folder that contains only metadata. The caller must hold registry_lock.
void remove_folder();

}  // namespace zerotax::recorder
