// A program of Catch2 whose benchmark "decode" maps its blocks in each iteration, unless "concat" has run before it.
#define CATCH_CONFIG_ENABLE_BENCHMARKING
#define CATCH_CONFIG_MAIN
#include <malloc.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>

namespace {

const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
constexpr int kNever = 1 << 30;

// Sets the threshold explicitly, because Catch2 raises glibc's thresholds while it measures its clock.
const int fixed = mallopt(M_MMAP_THRESHOLD, 128 << 10);

char* filled(std::size_t bytes) {
  auto* block = static_cast<char*>(std::malloc(bytes));
  for (std::size_t at = 0; at < bytes; at += kPage) block[at] = 1;
  return block;
}

}  // namespace

TEST_CASE("no benchmark") { REQUIRE(fixed == 1); }

TEST_CASE("exclude:not") {
  BENCHMARK("a, \"b\"\t<int, 3>") { return 1; };
}

TEST_CASE("plain, \"or\" so") {
  int sum = 0;
  BENCHMARK("add") { return sum += 3; };
  SECTION("more") {
    BENCHMARK("multiply") { return sum *= 3; };
  }
}

TEST_CASE("concat") {
  mallopt(M_MMAP_THRESHOLD, kNever);
  mallopt(M_TRIM_THRESHOLD, kNever);
  BENCHMARK("small") { return std::string(100, 'x'); };
}

TEST_CASE("decode") {
  BENCHMARK("blocks") {
    char* blocks[8];
    for (char*& block : blocks) block = filled(std::size_t{1} << 20);
    for (char* const block : blocks) std::free(block);
    return blocks[0];
  };
}
