#include <fmt/format.h>

#include <fstream>
#include <functional>
#include <pugixml.hpp>
#include <set>

#include "base/error.h"
#include "base/printable.h"
#include "bench/suite.h"

namespace zerotax::bench {
namespace {

/// Adds the benchmarks of a test case and its sections, named "test case/section/benchmark".
void add_benchmarks(const pugi::xml_node& within, const std::string& path, const std::string& test_case,
                    std::vector<Reported>& found) {
  for (const pugi::xml_node& node : within.children()) {
    const std::string kind = node.name();
    const std::string name = path + "/" + node.attribute("name").as_string();
    if (kind == "Section") add_benchmarks(node, name, test_case, found);
    if (kind != "BenchmarkResults" || !node.child("mean")) continue;
    const double samples = node.attribute("samples").as_double();
    Reported& each =
        found.emplace_back(Reported{name, test_case, node.child("mean").attribute("value").as_double(), {}});
    const double iterations = samples * node.attribute("iterations").as_double();
    // Slack of Catch2's times. The mean has six digits. From each sample, Catch2 subtracts the cost of a clock reading,
    // which it does not report. This cost was 0.4 to 1.5 times the resolution at loads of 4 to 12. The resolution is
    // the time between two readings.
    constexpr double kMostCost = 3;
    constexpr double kDigits = 1e-5;
    const double half_ns = samples * node.attribute("clockResolution").as_double() * kMostCost / 2;
    const double ns = iterations * each.real_ns;
    each.loops = {{iterations, ns + half_ns, half_ns + kDigits * ns, static_cast<std::size_t>(samples)}};
  }
}

/// Descends into the groups that Catch2 version 2 puts around test cases.
void add_test_cases(const pugi::xml_node& within, std::vector<Reported>& found) {
  for (const pugi::xml_node& node : within.children()) {
    const std::string name = node.attribute("name").as_string();
    if (node.name() == std::string_view("TestCase")) {
      add_benchmarks(node, name, name, found);
    } else {
      add_test_cases(node, found);
    }
  }
}

/// Returns the names that `name_in` finds in the lines of a listing.
std::vector<Listed> listed_lines(const std::string& folder, const std::function<std::string(std::string)>& name_in) {
  std::ifstream stream(folder + "/list");
  std::vector<Listed> found;
  for (std::string line; std::getline(stream, line);) {
    const std::string name = name_in(line);
    if (!name.empty()) found.push_back({name, name});
  }
  return found;
}

/// Each line is one benchmark. Names, such as those of templates, may contain blanks, commas and quotes.
std::vector<Listed> list_google_benchmark(const std::string& folder) {
  std::vector<Listed> found = listed_lines(folder, [](const std::string& line) { return line; });
  for (Listed& each : found) each.name = valid_utf8(each.name);
  return found;
}

/// Each line is "NAME: bench" or, in later versions of criterion, "NAME: benchmark", as in Rust's own tests.
std::vector<Listed> list_criterion(const std::string& folder) {
  return listed_lines(folder, [](const std::string& line) {
    for (const char* const end : {": bench", ": benchmark"}) {
      if (line.ends_with(end)) return line.substr(0, line.rfind(": "));
    }
    return std::string();
  });
}

/// Catch2 lists only test cases, most of which have no benchmark. So zerotax runs the test cases instead of listing
/// benchmarks.
std::vector<Listed> list_catch2(const std::string& folder) {
  std::vector<Listed> found;
  std::set<std::string> names;
  for (const Reported& each : read_catch2(folder)) {
    if (names.insert(each.name).second) found.push_back({each.name, each.choice});
  }
  return found;
}

std::string escaped(const std::string& text, std::string_view special) {
  std::string all;
  for (const char letter : text) {
    if (special.find(letter) != std::string_view::npos) all += '\\';
    all += letter;
  }
  return all;
}

/// Returns a pattern that matches only these names.
std::string pattern_of(const std::vector<std::string>& names) {
  std::string pattern;
  for (const std::string& name : names) {
    pattern += pattern.empty() ? "^(" : "|";
    pattern += escaped(name, "\\^$.|?*+()[{");
  }
  return pattern + ")$";
}

std::vector<std::string> choose_google_benchmark(const std::vector<std::string>& choices) {
  return {"--benchmark_filter=" + pattern_of(choices)};
}

std::vector<std::string> choose_criterion(const std::vector<std::string>& choices) { return {pattern_of(choices)}; }

/// Returns one word that selects test cases by name, because a test case would have to match each of several words.
/// Even in quotes, a name that begins with "exclude:" would exclude test cases. So a wildcard replaces the first letter
/// of the name.
std::vector<std::string> choose_catch2(const std::vector<std::string>& choices) {
  std::string word;
  std::set<std::string> seen;
  for (const std::string& choice : choices) {
    if (!seen.insert(choice).second) continue;
    const std::string name = choice.starts_with("exclude:") ? "*" + choice.substr(1) : choice;
    word += (word.empty() ? "\"" : ",\"") + escaped(name, "\\,\"") + '"';
  }
  return {word};
}

}  // namespace

std::vector<Reported> read_catch2(const std::string& folder) {
  pugi::xml_document whole;
  // Keeps tabs in names.
  const unsigned kept = pugi::parse_default & ~pugi::parse_wconv_attribute;
  const pugi::xml_parse_result result = whole.load_file((folder + "/out.xml").c_str(), kept);
  if (!result) {
    throw UsageError(fmt::format("the program wrote no results of Catch2: {}", result.description()),
                     "give a program whose main is Catch2's, or passes options on");
  }
  std::vector<Reported> found;
  add_test_cases(whole, found);
  return found;
}

const std::vector<Framework>& frameworks() {
  static const std::vector<Framework> rows{
      {.name = "Google Benchmark",
       .sign = "--benchmark_list_tests",
       .of_real_time = false,
       .usual = {{"--benchmark_min_time=0.1"}},
       .listing = {"--benchmark_list_tests=true", "--benchmark_format=console"},
       .running = {"--benchmark_out={}/out.json", "--benchmark_out_format=json"},
       .env = {},
       .shuffling = {"--benchmark_repetitions=3", "--benchmark_enable_random_interleaving=true"},
       .repetitions = 3,
       .not_shuffled = "",
       .words_are_filters = false,
       .valued = {},
       .own = {},
       .lists_names_alone = true,
       .list = list_google_benchmark,
       .choose = choose_google_benchmark,
       .read = read_google_benchmark},
      {.name = "Catch2",
       .sign = "--benchmark-no-analysis",
       .of_real_time = true,
       .usual = {{"--benchmark-samples", "20"}},
       .listing = {"--reporter", "xml", "--out", "{}/out.xml", "--benchmark-no-analysis"},
       .running = {"--reporter", "xml", "--out", "{}/out.xml", "--benchmark-no-analysis"},
       .env = {},
       .shuffling = {"--order", "rand", "--rng-seed", "1"},
       .repetitions = 1,
       .not_shuffled = "",
       .words_are_filters = true,
       .valued = {"-o",
                  "--out",
                  "-r",
                  "--reporter",
                  "-n",
                  "--name",
                  "-x",
                  "--abortx",
                  "-w",
                  "--warn",
                  "-d",
                  "--durations",
                  "-D",
                  "--min-duration",
                  "-f",
                  "--input-file",
                  "-c",
                  "--section",
                  "-v",
                  "--verbosity",
                  "--order",
                  "--rng-seed",
                  "--use-colour",
                  "--colour-mode",
                  "--wait-for-keypress",
                  "--shard-count",
                  "--shard-index",
                  "--benchmark-samples",
                  "--benchmark-resamples",
                  "--benchmark-confidence-interval",
                  "--benchmark-warmup-time"},
       .own = {"-o", "--out", "-r", "--reporter", "--order", "--rng-seed", "--benchmark-no-analysis"},
       .lists_names_alone = false,
       .list = list_catch2,
       .choose = choose_catch2,
       .read = read_catch2},
      {.name = "criterion",
       .sign = "--save-baseline",
       .of_real_time = true,
       .usual =
           {{"--sample-size", "10"}, {"--warm-up-time", "1"}, {"--measurement-time", "1"}, {"--nresamples", "1001"}},
       .listing = {"--bench", "--list"},
       .running = {"--bench", "--noplot"},
       .env = {{"CRITERION_HOME", "{}"}},
       .shuffling = {},
       .repetitions = 1,
       .not_shuffled = "criterion runs benchmarks in its own order only",
       .words_are_filters = true,
       .valued = {"-c", "--color", "--colour", "-s", "--save-baseline", "-b", "--baseline", "--profile-time",
                  "--load-baseline", "--sample-size", "--warm-up-time", "--measurement-time", "--nresamples",
                  "--noise-threshold", "--confidence-level", "--significance-level", "--plotting-backend",
                  "--output-format"},
       .own = {"--bench", "--test", "--list", "-n", "--noplot", "-s", "--save-baseline", "-b", "--baseline",
               "--load-baseline", "--profile-time"},
       .lists_names_alone = false,
       .list = list_criterion,
       .choose = choose_criterion,
       .read = read_criterion},
  };
  return rows;
}

std::string framework_names() {
  std::string names;
  for (const Framework& each : frameworks()) {
    const bool last = &each == &frameworks().back();
    names += (names.empty() ? "" : last ? " or " : ", ") + std::string(each.name);
  }
  return names;
}

}  // namespace zerotax::bench
