#pragma once

#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

namespace zerotax::fuzz {

using Random = std::mt19937_64;

inline bool one_in(Random& random, std::uint64_t count) { return random() % count == 0; }

/// Returns a number, mostly small, sometimes at the end of a range.
inline std::uint64_t some_number(Random& random) {
  switch (random() % 6) {
    case 0:
      return random();
    case 1:
      return (std::uint64_t{1} << random() % 64) - random() % 2;
    case 2:
      return ~std::uint64_t{0} - random() % 64;
    default:
      return random() % (std::uint64_t{1} << random() % 18);
  }
}

/// Damages a text: changes bytes, shortens it, repeats parts, and inserts numbers and words.
inline std::string damaged_text(std::string text, Random& random) {
  static constexpr const char* kWords[] = {"\n",    "\n\n",     "",     " ",       "-1",    "18446744073709551616",
                                           "1e999", "\xff\xfe", "%s%n", "\x1b[2J", "../..", "null",
                                           "\"",    "}",        "{",    ";",       "#",     "refs/heads/"};
  for (std::uint64_t left = 1 + random() % 4; left > 0 && !text.empty(); --left) {
    const std::size_t at = random() % text.size();
    const std::size_t bytes = random() % 40;
    switch (random() % 6) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, bytes);
        break;
      case 2:
        text.insert(random() % text.size(), text.substr(at, bytes));
        break;
      case 3:
        text.insert(at, kWords[random() % std::size(kWords)]);
        break;
      case 4: {
        const std::size_t digits = text.find_first_of("0123456789", at);
        if (digits == std::string::npos) break;
        text.replace(digits, text.find_first_not_of("0123456789", digits) - digits,
                     std::to_string(some_number(random)));
        break;
      }
      default:
        if (one_in(random, 4)) text.resize(at);
    }
  }
  return text;
}

/// The options --seconds N and --seed N.
struct Options {
  double seconds = 5;
  std::uint64_t seed = 1;

  Options(int count, char** words) {
    for (int i = 1; i + 1 < count; i += 2) {
      const std::string_view word = words[i];
      if (word == "--seconds") seconds = std::atof(words[i + 1]);
      if (word == "--seed") seed = std::strtoull(words[i + 1], nullptr, 10);
    }
  }
};

inline volatile std::uint64_t current_seed = 0;

/// Prints the seed of an input that crashes, throws an uncaught exception or takes too long. Then ends the program.
inline void say_seed_and_end(int signal) {
  char line[80];
  const int length = std::snprintf(line, sizeof line, "signal %d at seed %llu\n", signal,
                                   static_cast<unsigned long long>(current_seed));
  if (::write(STDERR_FILENO, line, static_cast<std::size_t>(length)) < 0) ::_exit(3);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

/// Allows each input 20 s of CPU time, and 200 s of wall time, because the CPUs may be busy.
inline void limit_input(bool limited) {
  const itimerval cpu{{0, 0}, {limited ? 20 : 0, 0}};
  ::setitimer(ITIMER_PROF, &cpu, nullptr);
  ::alarm(limited ? 200 : 0);
}

/// Calls `attempt` with successive seeds, at least once. Returns the number of calls.
inline std::uint64_t try_seeds(const Options& options, const std::function<void(Random&)>& attempt) {
  for (const int signal : {SIGABRT, SIGALRM, SIGPROF, SIGSEGV, SIGFPE}) ::signal(signal, say_seed_and_end);
  std::uint64_t tried = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(options.seconds);
  do {
    current_seed = options.seed + tried;
    Random random(current_seed);
    limit_input(true);
    attempt(random);
    ++tried;
  } while (std::chrono::steady_clock::now() < end);
  limit_input(false);
  return tried;
}

}  // namespace zerotax::fuzz
