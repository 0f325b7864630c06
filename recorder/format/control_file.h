#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>

// The file by which zerotax trace start, stop and status speak to a process: FOLDER/control-PID, mapped by both. One
// futex (`state`) says whose turn it is; whoever may write the file may use it. Nothing is open in the process, because
// a program may close descriptors that it does not know, and nothing is polled.

namespace zerotax::recorder {

inline constexpr char kControlMagic[8] = {'Z', 'T', 'C', 'T', 'R', 'L', '2', '\0'};
inline constexpr const char* kControlPrefix = "control-";
inline constexpr const char* kControlVariable = "ZEROTAX_TRACE_CONTROL";

enum class ControlState : std::uint32_t {
  kIdle = 0,
  kRequested = 1,  ///< by a client, who holds the file's lock (flock(2)); it may take the request back
  kTaken = 2,      ///< the process acts on it
  kAnswered = 3,
  kClosed = 4,  ///< the process ends
};

enum class ControlAction : std::uint32_t { kStatus = 0, kStart = 1, kStop = 2 };

/// What became of a request.
enum class ControlResult : std::uint32_t {
  kDone = 0,
  kAlreadyRecording = 1,
  kNotRecording = 2,
  kFailed = 3,  ///< `message` says why
};

enum class ControlRecording : std::uint32_t { kOff = 0, kOn = 1, kTriggered = 2 };

/// The options of a trace, as in zerotax_trace_options: 0 and "" mean the process's own environment, or the default.
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
  std::uint64_t bytes;      ///< of the file
  std::uint64_t started;    ///< when the process started, as /proc/PID/stat has it: another may get its number
  std::uint64_t lost;       ///< records of the trace, or of the last one
  std::uint32_t state;      ///< ControlState
  std::uint32_t action;     ///< ControlAction
  std::uint32_t result;     ///< ControlResult
  std::uint32_t recording;  ///< ControlRecording
  std::uint32_t answers;    ///< so far: one that came just before the process ended (kClosed) counts, too
  std::uint32_t reserved;
  ControlOptions wanted;   ///< of kStart
  ControlOptions current;  ///< of the trace, or of the last one; folder: the process's own
  char message[512];
};

constexpr std::uint32_t state_word(ControlState state) { return static_cast<std::uint32_t>(state); }

inline std::atomic_ref<std::uint32_t> state_of(ControlFile& file) { return std::atomic_ref<std::uint32_t>(file.state); }

inline std::atomic_ref<std::uint32_t> answers_of(ControlFile& file) {
  return std::atomic_ref<std::uint32_t>(file.answers);
}

/// Wakes who waits for another state. Not FUTEX_PRIVATE_FLAG: the other side is another process.
inline void wake(ControlFile& file) { ::syscall(SYS_futex, &file.state, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

/// Sleeps while it is in this state, for so long at most (null: for ever); it may wake for nothing.
inline void wait_while(ControlFile& file, std::uint32_t state, const timespec* most) {
  ::syscall(SYS_futex, &file.state, FUTEX_WAIT, state, most, nullptr, 0);
}

}  // namespace zerotax::recorder
