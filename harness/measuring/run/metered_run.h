#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace zerotax {

/// A program that build/libexec/run-metered (run/process) runs to its end, in the background.
struct MeteredCommand {
  std::string program;                                           ///< path
  std::vector<std::string> words;                                ///< argv, argv[0] included
  std::vector<std::pair<std::string, std::string>> environment;  ///< added to ours, or replacing
  bool only_these_variables = false;
  std::string folder;  ///< where it runs; empty: where we do
  std::string input = "/dev/null";
  std::string output = "/dev/null";  ///< overwritten
  std::string errors = "/dev/null";  ///< appended to
  std::string client;                ///< of a server: a command for the shell; not counted, and `output` is its
  std::string ready;                 ///< of a server: a command for the shell, tried until it succeeds
  bool terminate = false;            ///< by SIGTERM once the client has ended; else the client ends it
  std::chrono::milliseconds timeout{60'000};
  bool fixed_layout = false;       ///< as os/child.h has it
  bool sum_memory = false;         ///< sample all of its processes together: for the limit, and for peak_bytes
  std::uint64_t memory_limit = 0;  ///< bytes that all its processes may have together; 0: no limit
};

/// How it ended, and what it used with all of its descendants.
struct MeteredRun {
  enum class End { kEnded, kTimeout, kMemory, kStopped, kNotStarted };
  End end = End::kNotStarted;
  std::string why_not_started;
  bool exited = false;
  int code = 0;           ///< exit status, or the signal that killed it
  int client_status = 0;  ///< as a shell reports it
  bool never_ready = false;
  std::int64_t faults = 0;  ///< minor ones
  std::int64_t user_ns = 0;
  std::int64_t system_ns = 0;
  std::int64_t wall_ns = 0;     ///< of the client, if there is one
  std::int64_t peak_bytes = 0;  ///< resident, of the largest process; with sum_memory the largest sum at one time
  std::int64_t started_ns = 0;  ///< CLOCK_MONOTONIC
  int pid = 0;
};

/// Runs the command to its end. Kills it, and whatever it started, at the timeout, beyond its memory, and when a signal
/// asks for an end. Calls `watch` while the command runs. Leaves nothing of it running. Not for several threads.
MeteredRun run_metered(const MeteredCommand& command, const std::function<void()>& watch = {});

/// "ok", "exit status 1", "killed by SIGABRT": how a program ended.
std::string end_text(bool exited, int code);

/// A hash of what is in a file: FNV-1a of words of eight bytes, and of the length.
std::uint64_t hash_of_file(const std::string& path);

/// The first and the last non-empty line of a file, at most 200 bytes of each.
std::string first_line_of_file(const std::string& path);
std::string last_line_of_file(const std::string& path);

}  // namespace zerotax
