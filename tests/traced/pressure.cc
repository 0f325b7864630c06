// Records COUNT numbers as fast as possible. With BIG, also records one record of 8 KiB halfway. Prints how many
// records were lost. Usage: pressure COUNT [BIG]
#include <cstdio>
#include <cstdlib>

#include "numbers.h"

ZEROTAX_EVENT(big, (uint8_t, bytes, 8192))

int main(int argc, char** argv) {
  const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
  record_numbers(0, count / 2);
  if (argc > 2) {
    static const big all{};
    zerotax::record(all);
  }
  record_numbers(0, count - count / 2, count / 2);
  std::printf("%llu\n", static_cast<unsigned long long>(zerotax_trace_lost()));
  return 0;
}
