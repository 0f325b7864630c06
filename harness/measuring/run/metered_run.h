#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/measured.h"

namespace zerotax {

/// A program that build/libexec/run-metered (run/process) runs to its end in the background.
struct MeteredCommand {
  std::string program;                                           ///< path
  std::vector<std::string> words;                                ///< argv, argv[0] included
  std::vector<std::pair<std::string, std::string>> environment;  ///< variables to add or replace
  bool only_these_variables = false;
  std::string folder;  ///< working directory; empty for the current one
  std::string input = "/dev/null";
  std::string output = "/dev/null";  ///< the file is overwritten
  std::string errors = "/dev/null";  ///< the messages are appended to this file
  std::string client;                ///< for a server: shell command of its client, which is not counted; `output` is
                                     ///< then the client's output
  std::string ready;                 ///< for a server: shell command that is repeated until it succeeds
  bool terminate = false;        ///< end the server with SIGTERM after the client; otherwise the client must end the
                                 ///< server
  bool wait_until_idle = false;  ///< with `terminate` and sum_memory: wait at most a second after the client for the
                                 ///< server's idle memory
  std::chrono::milliseconds timeout{60'000};
  bool fixed_layout = false;  ///< same as ChildCommand::fixed_layout (os/child.h)
  bool sum_memory = false;    ///< sample the total memory of the program's processes, for memory_limit and peak_bytes
  std::uint64_t memory_limit = 0;  ///< maximum bytes of all processes of the program together; 0 for no limit
  bool sum_pss = true;  ///< with sum_memory, sum PSS if there are several processes; otherwise sum RSS. While PSS is
                        ///< read, an ended process keeps its memory, so that its parent copies more pages
};

/// The memory that a program's processes hold while they do nothing. It is the RSS of a single process, and the sum of
/// PSS of several processes if PSS can be read.
struct IdleMemory {
  std::int64_t bytes = 0;
  bool idle = false;  ///< whether the memory is from an idle moment, at which no thread could run, and the processes
                      ///< had used under 1 % of a CPU for 300 ms; otherwise it is the mean over the whole run
};

/// The end of a command, and the resources that the command and its descendants used.
struct MeteredRun {
  enum class End { kEnded, kTimeout, kMemory, kStopped, kNotStarted };
  End end = End::kNotStarted;
  std::string why_not_started;
  bool exited = false;
  int code = 0;           ///< exit status, or number of the signal that killed the program
  int client_status = 0;  ///< exit status of the client as a shell reports it
  bool never_ready = false;
  std::int64_t faults = 0;  ///< number of minor faults
  std::int64_t user_ns = 0;
  std::int64_t system_ns = 0;
  std::int64_t wall_ns = 0;     ///< elapsed time of the client if there is one, and otherwise of the program
  std::int64_t peak_bytes = 0;  ///< peak resident set of the largest process; with sum_memory the largest sum at one
                                ///< time
  /// With sum_memory: memory at the last idle moment, for a server after its client. A program that is no server and
  /// was never idle has its mean.
  Measured<IdleMemory> idle_memory{NotAvailable{"its memory was not sampled"}};
  std::int64_t started_ns = 0;  ///< CLOCK_MONOTONIC
  int pid = 0;
};

/// Runs the command to its end, and calls `watch` meanwhile. Kills the command and its descendants at the timeout,
/// above the memory limit, and when a signal requests termination. Leaves no process running. Not thread-safe.
MeteredRun run_metered(const MeteredCommand& command, const std::function<void()>& watch = {});

/// Returns how a program ended: "ok", "exit status 1" or "killed by SIGABRT".
std::string end_text(bool exited, int code);

/// Returns a hash of a file's contents: FNV-1a over words of eight bytes and the length.
std::uint64_t hash_of_file(const std::string& path);

/// Returns the first and the last non-empty line of a file, cut to 200 bytes.
std::string first_line_of_file(const std::string& path);
std::string last_line_of_file(const std::string& path);

}  // namespace zerotax
