// N threads record COUNT numbers each at the same time. The program repeats this ROUNDS times with new threads. Usage:
// threads N COUNT [ROUNDS]
#include <cstdlib>
#include <thread>
#include <vector>

#include "numbers.h"

int main(int argc, char** argv) {
  const auto word = [&](int i, const char* otherwise) {
    return std::strtoull(argc > i ? argv[i] : otherwise, nullptr, 10);
  };
  const auto threads = word(1, "8");
  const auto count = word(2, "100000");
  for (std::uint64_t round = 0; round < word(3, "1"); ++round) {
    std::vector<std::thread> all;
    for (std::uint64_t who = 0; who < threads; ++who) all.emplace_back(record_numbers, round * threads + who, count, 0);
    for (auto& thread : all) thread.join();
  }
  return zerotax_trace_lost() == 0 ? 0 : 1;
}
