// Plays sequences without libFuzzer, from random bytes of a seed, for a number of seconds. With --show, prints each
// seed before its sequence, so that a sequence that aborts can be repeated. Usage: largecache_random [--seconds N]
// [--seed N] [--show]
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string_view>
#include <vector>

#include "largecache_player.h"

int main(int count, char** arguments) {
  double seconds = 10;
  std::uint64_t seed = 1;
  bool show = false;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = arguments[i];
    if (word == "--show") {
      show = true;
    } else if (word == "--seconds" && i + 1 < count) {
      seconds = std::atof(arguments[++i]);
    } else if (word == "--seed" && i + 1 < count) {
      seed = std::strtoull(arguments[++i], nullptr, 10);
    } else {
      std::fprintf(stderr, "largecache_random: unknown argument %s; give --seconds N, --seed N or --show\n",
                   arguments[i]);
      return 2;
    }
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  do {
    if (show) std::fprintf(stderr, "seed %lu\n", seed);
    std::mt19937_64 random(seed++);
    std::vector<std::uint8_t> bytes(50 + random() % 1500);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    zerotax::largecache::Player::play(bytes.data(), bytes.size());
  } while (std::chrono::steady_clock::now() < end);
  const auto& played = zerotax::largecache::played;
  std::printf("%lu sequences, %lu operations, %lu children; %lu bytes of %lu callocs read: all zero\n",
              played.sequences, played.operations, played.children, played.zero_bytes, played.callocs);
  return 0;
}
