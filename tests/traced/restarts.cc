// Starts a trace by a call, then stops it and starts it again in another folder, while a thread keeps recording.
// SPINNING additional threads take CPU time from this thread at any moment. With 0, the thread rests now and then, so
// that the trace is short enough to be read. Usage: restarts FOLDER ROUNDS SPINNING
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "numbers.h"

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string folder = argv[1];
  const int rounds = std::atoi(argv[2]);
  std::atomic<bool> end{false};
  std::atomic<std::uint64_t> done{0};
  std::vector<std::thread> spinning(static_cast<std::size_t>(std::atoi(argv[3])));
  std::thread other([&] {
    while (!end.load()) {
      record_numbers(1, 1, done++);
      if (spinning.empty() && done % 1000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  for (std::thread& each : spinning) {
    each = std::thread([&] {
      while (!end.load()) {
      }
    });
  }
  int failures = 0;
  for (int round = 0; round < rounds; ++round) {
    const std::string to = folder + "/round-" + std::to_string(round);
    zerotax_trace_options options{};
    options.directory = to.c_str();
    options.buffer_bytes = 128 << 10;  // short packets, so that the thread often completes one
    failures += zerotax_trace_start(&options) == 0 ? 0 : 1;
    failures += zerotax_trace_start(&options) != 0 ? 0 : 1;
    record_numbers(0, 1000);
    zerotax_trace_flush();
    record_numbers(0, 1000, 1000);
    // The thread's first record makes a buffer. The loop then waits for 1,000 more records.
    for (const std::uint64_t before = done.load(); done.load() < before + 1000;) std::this_thread::yield();
    zerotax_trace_stop();
    record_numbers(0, 1000, 5000);  // between traces, no trace receives these numbers
  }
  end.store(true);
  other.join();
  for (std::thread& each : spinning) each.join();
  return failures;
}
