#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>

// The file through which zerotax trace start, stop and status communicate with a process: FOLDER/control-PID, mapped by
// both. One futex (`state`) indicates whose turn it is. Any process that may write to the file may use it. The traced
// process keeps no descriptor open, because a program may close descriptors that it does not know. Neither side polls.

namespace zerotax::recorder {

inline constexpr char kControlMagic[8] = {'Z', 'T', 'C', 'T', 'R', 'L', '2', '\0'};
inline constexpr const char* kControlPrefix = "control-";
inline constexpr const char* kControlVariable = "ZEROTAX_TRACE_CONTROL";

enum class ControlState : std::uint32_t {
  kIdle = 0,
  kRequested = 1,  ///< requested by a client, which holds the file's lock (flock(2)) and may withdraw the request
  kTaken = 2,      ///< the process is handling the request
  kAnswered = 3,
  kClosed = 4,  ///< the process is ending
};

enum class ControlAction : std::uint32_t { kStatus = 0, kStart = 1, kStop = 2 };

/// The result of a request.
enum class ControlResult : std::uint32_t {
  kDone = 0,
  kAlreadyRecording = 1,
  kNotRecording = 2,
  kFailed = 3,  ///< `message` gives the reason
};

enum class ControlRecording : std::uint32_t { kOff = 0, kOn = 1, kTriggered = 2 };

/// The options of a trace, as in zerotax_trace_options. A value of 0 or "" selects the traced process's environment
/// variable, or else the default.
struct ControlOptions {
  char folder[4096];
  char events[1024];
  char until[256];
  std::uint64_t buffer_bytes;
  std::int32_t mode;
  std::int32_t drain;
  std::int32_t monotonic;
  std::int32_t reserved;
};

struct ControlFile {
  char magic[8];
  std::uint64_t bytes;      ///< size of the file
  std::uint64_t started;    ///< start time of the process, from /proc/PID/stat, because the PID may be reused
  std::uint64_t lost;       ///< records lost in the current or the last trace
  std::uint32_t state;      ///< ControlState
  std::uint32_t action;     ///< ControlAction
  std::uint32_t result;     ///< ControlResult
  std::uint32_t recording;  ///< ControlRecording
  std::uint32_t answers;    ///< number of answers so far, including an answer given just before the process ended
                            ///< (kClosed)
  std::uint32_t reserved;
  ControlOptions wanted;   ///< options of the requested trace (kStart)
  ControlOptions current;  ///< options of the current or the last trace; `folder` is the process's own folder
  char message[512];
};

constexpr std::uint32_t state_word(ControlState state) { return static_cast<std::uint32_t>(state); }

inline std::atomic_ref<std::uint32_t> state_of(ControlFile& file) { return std::atomic_ref<std::uint32_t>(file.state); }

inline std::atomic_ref<std::uint32_t> answers_of(ControlFile& file) {
  return std::atomic_ref<std::uint32_t>(file.answers);
}

/// Wakes the side that waits for another state. FUTEX_PRIVATE_FLAG is not set, because the other side is another
/// process.
inline void wake(ControlFile& file) { ::syscall(SYS_futex, &file.state, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

/// Sleeps while the file is in this state, for at most `most` (null: without limit). Spurious wake-ups are possible.
inline void wait_while(ControlFile& file, std::uint32_t state, const timespec* most) {
  ::syscall(SYS_futex, &file.state, FUTEX_WAIT, state, most, nullptr, 0);
}

}  // namespace zerotax::recorder
