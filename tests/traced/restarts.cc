// restarts FOLDER: a trace by call, stopped and begun anew in another folder, while a thread goes on recording.
#include <atomic>
#include <string>
#include <thread>

#include "numbers.h"

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  std::atomic<bool> end{false};
  std::atomic<std::uint64_t> done{0};
  std::thread other([&] {
    while (!end.load()) record_numbers(1, 1, done++);
  });
  int failures = 0;
  for (int round = 0; round < 5; ++round) {
    const std::string to = folder + "/round-" + std::to_string(round);
    zerotax_trace_options options{};
    options.directory = to.c_str();
    options.buffer_bytes = 1 << 20;
    failures += zerotax_trace_start(&options) == 0 ? 0 : 1;
    failures += zerotax_trace_start(&options) != 0 ? 0 : 1;
    record_numbers(0, 1000);
    zerotax_trace_flush();
    record_numbers(0, 1000, 1000);
    // Its first record makes a buffer; so many are after it.
    for (const std::uint64_t before = done.load(); done.load() < before + 1000;) std::this_thread::yield();
    zerotax_trace_stop();
    record_numbers(0, 1000, 5000);  // nowhere
  }
  end.store(true);
  other.join();
  return failures;
}
