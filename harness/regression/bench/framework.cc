#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <pugixml.hpp>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "base/printable.h"
#include "bench/suite.h"
#include "os/input_file.h"

namespace zerotax::bench {
namespace {

/// Google Benchmark writes counters that are NaN or Infinity (a rate of 0 events, a division by 0), which JSON lacks.
std::string with_null_for_what_is_no_number(const std::string& text) {
  std::string json;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char letter = text[at];
    if (in_string && letter == '\\') {
      json += letter;
      if (++at < text.size()) json += text[at];
      continue;
    }
    if (letter == '"') in_string = !in_string;
    json += letter;
    if (in_string || letter != ':') continue;
    const std::size_t value = text.find_first_not_of(" \t", at + 1);
    const std::size_t end = value == std::string::npos ? value : text.find_first_of(",}\r\n ", value);
    if (end == std::string::npos) continue;
    const std::string_view word = std::string_view(text).substr(value, end - value);
    const std::string_view magnitude = word.substr(word.starts_with('-') ? 1 : 0);
    for (const std::string_view none : {"NaN", "nan", "Infinity", "inf"}) {
      if (magnitude != none) continue;
      json += " null";
      at = end - 1;
    }
  }
  return json;
}

/// Keeps the first value of a repeated key: a program may give a counter the name of one of Google Benchmark's keys.
Json read_google_json(const std::string& path) {
  std::vector<std::set<std::string>> keys;
  const std::string text = with_null_for_what_is_no_number(valid_utf8(read_input_file(path)));
  return Json::parse(text, [&](int depth, Json::parse_event_t event, const Json& parsed) {
    const auto level = static_cast<std::size_t>(depth);
    keys.resize(std::max(keys.size(), level + 2));
    if (event == Json::parse_event_t::object_start) keys[level + 1].clear();
    return event != Json::parse_event_t::key || keys[level].insert(parsed.get<std::string>()).second;
  });
}

/// The benchmarks in a test case, and in its sections: "test case/section/benchmark".
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
    // The mean has six digits, and what the clock takes is left out of each sample.
    constexpr double kClock_ns = 1000;
    constexpr double kDigits = 1e-5;
    const double ns = iterations * each.real_ns;
    each.loops = {{iterations, ns, samples * kClock_ns + kDigits * ns, static_cast<std::size_t>(samples)}};
  }
}

/// Version 2 has groups around test cases.
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

/// The names that `name_in` finds in the lines of a listing.
std::vector<Listed> listed_lines(const std::string& folder, const std::function<std::string(std::string)>& name_in) {
  std::ifstream stream(folder + "/list");
  std::vector<Listed> found;
  for (std::string line; std::getline(stream, line);) {
    const std::string name = name_in(line);
    if (!name.empty()) found.push_back({name, name});
  }
  return found;
}

/// A line for each benchmark: names, such as those of templates, may have blanks, commas and quotes.
std::vector<Listed> list_google_benchmark(const std::string& folder) {
  std::vector<Listed> found = listed_lines(folder, [](const std::string& line) { return line; });
  for (Listed& each : found) each.name = valid_utf8(each.name);
  return found;
}

/// "NAME: bench" or, in later versions, "NAME: benchmark", as Rust's own tests have it.
std::vector<Listed> list_criterion(const std::string& folder) {
  return listed_lines(folder, [](const std::string& line) {
    for (const char* const end : {": bench", ": benchmark"}) {
      if (line.ends_with(end)) return line.substr(0, line.rfind(": "));
    }
    return std::string();
  });
}

/// Catch2 lists test cases only, most of which have no benchmark: they are run instead.
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

/// A pattern that matches these names alone.
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

/// Test cases by name in one word: a test case would have to match each of several words. A name that begins with
/// "exclude:" would leave out test cases, even in quotes. So a wildcard replaces its first letter.
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

std::vector<Reported> read_google_benchmark(const std::string& folder) {
  // The same readings of the clock are reported: only the rounding of the mean lies between.
  constexpr double kSlack_ns = 100;
  constexpr double kDigits = 1e-6;
  try {
    const Json whole = read_google_json(folder + "/out.json");
    std::vector<Reported> found;
    for (const Json& each : whole.at("benchmarks")) {
      // Rows of means and of complexities have no times of their own.
      if (each.value("run_type", "iteration") != "iteration" || each.value("error_occurred", false)) continue;
      // No operation of the benchmark was timed, or the benchmark itself reported no time.
      if (!each.at("real_time").is_number() || each.at("real_time").get<double>() <= 0) continue;
      const std::string unit = each.value("time_unit", "ns");
      const double factor = unit == "s" ? 1e9 : unit == "ms" ? 1e6 : unit == "us" ? 1e3 : 1;
      const std::string name = each.value("run_name", each.at("name").get<std::string>());
      const double ns = each.at("real_time").get<double>() * factor;
      const auto iterations = each.at("iterations").get<double>();
      found.push_back({name, name, ns, {{iterations, ns * iterations, kSlack_ns + kDigits * ns * iterations}}});
    }
    return found;
  } catch (const Json::exception& problem) {
    throw UsageError(fmt::format("the program wrote no results of Google Benchmark: {}", problem.what()),
                     "give a program whose main passes options on to Google Benchmark");
  }
}

std::vector<Reported> read_criterion(const std::string& folder) {
  constexpr double kSlack_ns = 1;  // times are those of the clock
  try {
    std::vector<Reported> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const std::filesystem::path& file = entry.path();
      if (file.filename() != "benchmark.json" || file.parent_path().filename() != "new") continue;
      const std::string name = read_json_file(file.string()).at("full_id");
      const Json sample = read_json_file((file.parent_path() / "sample.json").string());
      Reported& each = found.emplace_back(Reported{name, name, 0, {}});
      double iterations = 0;
      for (std::size_t i = 0; i < sample.at("times").size(); ++i) {
        each.loops.push_back({sample.at("iters").at(i), sample.at("times").at(i), kSlack_ns});
        iterations += each.loops.back().iterations;
        each.real_ns += each.loops.back().ns;
      }
      each.real_ns /= iterations;
    }
    return found;
  } catch (const Json::exception& problem) {
    throw UsageError(fmt::format("the program wrote no results of criterion: {}", problem.what()),
                     "give a benchmark that cargo has built with criterion 0.3 or later");
  }
}

std::vector<Reported> read_catch2(const std::string& folder) {
  pugi::xml_document whole;
  // Tabs in names stay tabs.
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
       .not_shuffled = "criterion runs benchmarks in their own order only",
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
