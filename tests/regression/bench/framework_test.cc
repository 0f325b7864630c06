#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "bench/suite.h"
#include "files/folders.h"

namespace zerotax::bench {
namespace {

using Words = std::vector<std::string>;

const Framework& row(const std::string& name) {
  for (const Framework& each : frameworks()) {
    if (each.name == name) return each;
  }
  throw std::logic_error(name);
}

void write(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

Words names_in(const std::vector<Listed>& listed) {
  Words names;
  for (const Listed& each : listed) names.push_back(each.name);
  return names;
}

TEST(Framework, GoogleBenchmarkListsLines) {
  const TemporaryFolder folder{"framework-test"};
  write(folder.file("list"), "BM_Sort/100\n\nPair<int, 3>\nread \"a file\"\n");
  EXPECT_EQ(names_in(row("Google Benchmark").list(folder.path())),
            (Words{"BM_Sort/100", "Pair<int, 3>", "read \"a file\""}));
}

TEST(Framework, ReadsWhatGoogleBenchmarkWritesAndIsNoJson) {
  const TemporaryFolder folder{"framework-test"};
  write(folder.file("out.json"), R"({"context": {"a: NaN,": "x: NaN, \" : NaN,"}, "benchmarks": [
      {"name": "a: NaN,", "run_name": "a: NaN,", "run_type": "iteration", "iterations": 10, "real_time": 5.0,
       "time_unit": "us", "rate": NaN, "loss": -Infinity, "more": Infinity, "older": -nan, "real_time": 7},
      {"name": "b", "run_type": "iteration", "iterations": 0, "real_time": NaN, "time_unit": "ns"},
      {"name": "manual", "run_type": "iteration", "iterations": 9, "real_time": 0.0, "time_unit": "ns"},
      {"name": "a_BigO", "run_type": "aggregate", "aggregate_name": "BigO", "real_coefficient": 1.5, "big_o": "N"},
      {"name": "a_RMS", "run_type": "aggregate", "aggregate_name": "RMS", "rms": 0.1}]})");
  const std::vector<Reported> found = row("Google Benchmark").read(folder.path());
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].name, "a: NaN,");
  EXPECT_EQ(found[0].real_ns, 5000);
}

TEST(Framework, CriterionListsNamesBeforeAWord) {
  const TemporaryFolder folder{"framework-test"};
  write(folder.file("list"),
        "WARNING: of something\nplain: bench\n\ndecode/blocks: 8: bench\nsort: benchmark\nGnuplot\n");
  EXPECT_EQ(names_in(row("criterion").list(folder.path())), (Words{"plain", "decode/blocks: 8", "sort"}));
}

TEST(Framework, ChoosesNamesWithSpecialCharacters) {
  EXPECT_EQ(row("Google Benchmark").choose({"BM_A<int>/2", "B(c)"}),
            (Words{"--benchmark_filter=^(BM_A<int>/2|B\\(c\\))$"}));
  // Google Benchmark's regular expressions refuse an escaped closing bracket.
  EXPECT_EQ(row("Google Benchmark").choose({"f<char[3]>{}"}), (Words{"--benchmark_filter=^(f<char\\[3]>\\{})$"}));
  EXPECT_EQ(row("criterion").choose({"a.b", "c"}), (Words{"^(a\\.b|c)$"}));
  EXPECT_EQ(row("Catch2").choose({"a, \"b\"", "c\\d", "a, \"b\""}), (Words{R"("a\, \"b\"","c\\d")"}));
  EXPECT_EQ(row("Catch2").choose({"exclude:x"}), (Words{R"("*xclude:x")"}));
}

TEST(Framework, LeavesFiltersAndItsOwnOptionsOut) {
  const Words words{"./b", "[!benchmark]", "-r",       "console", "--order=rand", "--benchmark-samples",
                    "7",   "-s",           "some name"};
  EXPECT_EQ(kept_words(words, row("Catch2"), false), (Words{"./b", "--benchmark-samples", "7", "-s"}));
  EXPECT_EQ(kept_words(words, row("Catch2"), true),
            (Words{"./b", "[!benchmark]", "--benchmark-samples", "7", "-s", "some name"}));
  EXPECT_EQ(kept_words({"./b", "--bench", "fib", "--sample-size", "20"}, row("criterion"), false),
            (Words{"./b", "--sample-size", "20"}));
  // The command's words that run the program are kept.
  EXPECT_EQ(kept_words({"env", "A=1", "/bin/sh", "fib"}, row("criterion"), false), (Words{"env", "A=1", "/bin/sh"}));
}

constexpr const char* kResult =
    R"(<BenchmarkResults name="add" samples="20" resamples="100" iterations="50" clockResolution="99" estimatedDuration="1">
       <!--All values in nano seconds--><mean value="1.5e+03" lowerBound="1" upperBound="1" ci="0"/></BenchmarkResults>)";

TEST(Framework, ReadsBothVersionsOfCatch2) {
  const std::string test_cases = std::string(R"(<TestCase name="none"/><TestCase name="sums &amp; more">)") + kResult +
                                 "<Section name=\"in\tit\">" + kResult + "</Section></TestCase>";
  for (const std::string& whole : {"<Catch><Group name=\"b\">" + test_cases + "</Group></Catch>",
                                   "<Catch2TestRun name=\"b\">" + test_cases + "</Catch2TestRun>"}) {
    const TemporaryFolder folder{"framework-test"};
    write(folder.file("out.xml"), whole);
    const std::vector<Reported> found = row("Catch2").read(folder.path());
    ASSERT_EQ(found.size(), 2);
    EXPECT_EQ(found[0].name, "sums & more/add");
    EXPECT_EQ(found[1].name, "sums & more/in\tit/add");
    EXPECT_EQ(found[1].choice, "sums & more");
    EXPECT_EQ(found[0].real_ns, 1500);
    EXPECT_EQ(found[0].loops.at(0).stretches, 20);
    EXPECT_EQ(found[0].loops.at(0).iterations, 1000);
    // Each sample also reads the clock, which costs up to three resolutions.
    EXPECT_EQ(found[0].loops.at(0).ns, 1.5e6 + 20 * 99 * 1.5);
  }
}

TEST(Framework, RefusesWhatCatch2DoesNotWrite) {
  const TemporaryFolder folder{"framework-test"};
  EXPECT_THROW(row("Catch2").read(folder.path()), UsageError);
  write(folder.file("out.xml"), "<Catch2TestRun>");
  EXPECT_THROW(row("Catch2").read(folder.path()), UsageError);
}

TEST(Framework, ReadsSamplesOfCriterion) {
  const TemporaryFolder folder{"framework-test"};
  write(folder.file("g/a_b/new/benchmark.json"), R"({"full_id": "g/a/b"})");
  write(folder.file("g/a_b/new/sample.json"),
        R"({"sampling_mode": "Linear", "iters": [1.0, 3.0], "times": [100.0, 500.0]})");
  write(folder.file("g/a_b/base/benchmark.json"), R"({"full_id": "not this"})");
  const std::vector<Reported> found = row("criterion").read(folder.path());
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].name, "g/a/b");
  EXPECT_EQ(found[0].real_ns, 150);
  ASSERT_EQ(found[0].loops.size(), 2);
  EXPECT_EQ(found[0].loops[1].ns, 500);
}

TEST(Framework, RefusesWhatCriterionDoesNotWrite) {
  const TemporaryFolder folder{"framework-test"};
  write(folder.file("a/new/benchmark.json"), R"({"id": "a"})");
  EXPECT_THROW(row("criterion").read(folder.path()), UsageError);
}

}  // namespace
}  // namespace zerotax::bench
