// Reads damaged and hostile files of recorded calls, from random seeds, for a number of seconds. Each file must be
// refused by a UsageError or be prepared. build/bin/replay-calls must replay a prepared file to its end without a
// crash.
// Usage: calls_random [--seconds N] [--seed N] [--replay PROGRAM]
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>

#include "base/error.h"
#include "calls_testing.h"
#include "files/folders.h"
#include "replay/prepare.h"

namespace {

using zerotax::record::EventKind;
using Random = std::mt19937_64;

/// Returns a number, mostly small, sometimes at the end of a range.
std::uint64_t some_number(Random& random) {
  switch (random() % 8) {
    case 0:
      return random();
    case 1:
      return (std::uint64_t{1} << random() % 64) - random() % 2;
    default:
      return random() % (std::uint64_t{1} << random() % 18);
  }
}

struct Block {
  std::uint64_t number;
  std::uint64_t bytes;
  bool mapped;
};

/// Writes events that a program could have caused. In one file of three, a few events are impossible.
class Program {
 public:
  explicit Program(Random& random) : random_(random), wild_(random() % 3 == 0 ? 100 : 1'000'000) {}

  std::string events() {
    for (std::uint64_t left = random_() % 200; left != 0; --left) step();
    return events_.text;
  }

 private:
  std::uint64_t number(std::uint64_t usual) { return random_() % wild_ == 0 ? some_number(random_) : usual; }
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  void allocate(EventKind kind, std::uint64_t bytes, const std::vector<std::uint64_t>& more = {}) {
    events_.add(kind, number(bytes), more);
    live_.push_back({count_++, bytes, kind == EventKind::kMap});
  }

  /// Writes an event that ends or uses a block.
  void use(std::size_t place) {
    const Block block = live_[place];
    const std::uint64_t age = number(count_ - 1 - block.number);
    const std::uint64_t pages = block.bytes / 4096 + 1;
    const std::uint64_t first = below(pages);
    switch (below(4)) {
      case 0:
        if (below(4) == 0) {
          events_.add(EventKind::kHuge, age, {number(first), number(pages - first)});
        } else {
          events_.add(EventKind::kTouched, age, {1, number(first), number(pages - first)});
        }
        return;
      case 1:
        if (block.mapped) {
          events_.add(EventKind::kReturn, age, {number(first), number(pages - first)});
          return;
        }
        events_.add(EventKind::kRealloc, age + 1, {number(2 * block.bytes)});
        live_[place] = {count_++, 2 * block.bytes, false};
        return;
      default:
        events_.add(block.mapped ? EventKind::kUnmap : EventKind::kFree, age);
        live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(place));
    }
  }

  void step() {
    const std::uint64_t bytes = below(std::uint64_t{1} << below(18));
    switch (below(12)) {
      case 0:
        return allocate(EventKind::kCalloc, bytes);
      case 1:
        return allocate(EventKind::kAligned, bytes, {number(below(13))});
      case 2:
        return allocate(EventKind::kMap, bytes + 1);
      case 3:
        events_.add(EventKind::kThread, number(below(4)));
        return;
      case 4:
        if (below(8) == 0) events_.add(EventKind::kEnd, 0).add(EventKind::kThread, number(0));
        return;
      case 5:
        events_.add(below(2) == 0 ? EventKind::kFork : EventKind::kTime, number(below(30)));
        return;
      case 6:
      case 7:
      case 8:
        if (!live_.empty()) use(below(live_.size()));
        return;
      default:
        return allocate(EventKind::kMalloc, bytes);
    }
  }

  Random& random_;
  std::uint64_t wild_;
  std::vector<Block> live_;
  std::uint64_t count_ = 0;
  zerotax::Events events_;
};

zerotax::record::CallsAbout some_about(Random& random, std::size_t processes) {
  zerotax::record::CallsAbout about;
  about.processes.resize(processes);
  for (std::size_t i = 0; i < processes; ++i) {
    about.processes[i].image_zeroed_bytes = random() >> (random() % 64 == 0 ? random() % 64 : 44 + random() % 20);
    about.processes[i].image_copied_bytes = random() >> (44 + random() % 20);
  }
  for (std::size_t i = 1; i < processes; ++i) {
    if (random() % 2 == 0) continue;
    about.processes[i].parent = random() % i;
    about.processes[i].fork = random() % 4;
  }
  return about;
}

void damage(Random& random, std::string& text) {
  for (std::uint64_t left = random() % 4; left != 0 && !text.empty(); --left) {
    switch (random() % 3) {
      case 0:
        text[random() % text.size()] = static_cast<char>(random());
        break;
      case 1:
        text.resize(random() % (text.size() + 1));
        break;
      default:
        text.insert(random() % (text.size() + 1), 1 + random() % 8, static_cast<char>(random()));
    }
  }
}

/// Whether a replay ended by itself within 200 s, and not by a signal.
bool replays(const std::string& program, const std::string& prepared) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(200);
    std::freopen("/dev/null", "w", stdout);
    std::freopen("/dev/null", "w", stderr);
    ::execl(program.c_str(), "replay-calls", prepared.c_str(), "0", static_cast<char*>(nullptr));
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) != 127;
}

}  // namespace

int main(int count, char** arguments) {
  double seconds = 10;
  std::uint64_t seed = 1;
  std::string program;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view word = arguments[i];
    if (word == "--seconds") seconds = std::atof(arguments[i + 1]);
    if (word == "--seed") seed = std::strtoull(arguments[i + 1], nullptr, 10);
    if (word == "--replay") program = arguments[i + 1];
  }
  const zerotax::TemporaryFolder folder{"fuzz"};
  std::uint64_t files = 0;
  std::uint64_t prepared = 0;
  std::uint64_t replayed = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (; std::chrono::steady_clock::now() < end; ++seed, ++files) {
    Random random(seed);
    std::vector<std::string> events(1 + random() % 3);
    for (std::string& each : events) {
      each = Program(random).events();
      if (random() % 8 == 0) damage(random, each);
    }
    std::string file = zerotax::calls_file(events, some_about(random, events.size()));
    if (random() % 8 == 0) damage(random, file);
    zerotax::write_text(folder.file("x.calls"), file);
    try {
      const bool free_running = random() % 2 == 0;
      const zerotax::replay::CallsFile calls(folder.file("x.calls"));
      const auto found = zerotax::replay::prepare(calls, folder.file("prepared"), free_running);
      ++prepared;
      constexpr std::uint64_t kFew = std::uint64_t{256} << 20;
      if (program.empty() || found.peak_bytes > kFew) continue;
      if (!replays(program, folder.file("prepared"))) {
        std::fprintf(stderr, "seed %lu: the replay crashed\n", static_cast<unsigned long>(seed));
        return 1;
      }
      ++replayed;
    } catch (const zerotax::UsageError&) {
    }
  }
  std::printf("%lu files, of which %lu were prepared and %lu replayed\n", static_cast<unsigned long>(files),
              static_cast<unsigned long>(prepared), static_cast<unsigned long>(replayed));
  return prepared == 0 ? 1 : 0;
}
