#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/printable.h"
#include "bench/suite.h"
#include "os/input_file.h"

namespace zerotax::bench {

namespace {

/// Replaces NaN and Infinity, which JSON lacks, by null. Google Benchmark writes these values for a rate of 0 events or
/// a division by 0.
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

/// Keeps the first value of a repeated key, because a program may give a counter the name of one of Google Benchmark's
/// keys.
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

}  // namespace

std::vector<Reported> read_google_benchmark(const std::string& folder) {
  // Slack for the rounding of the mean. The program reports the same clock readings as the marks.
  constexpr double kSlack_ns = 100;
  constexpr double kDigits = 1e-6;
  try {
    const Json whole = read_google_json(folder + "/out.json");
    std::vector<Reported> found;
    for (const Json& each : whole.at("benchmarks")) {
      // Rows of means and of complexities have no times of their own.
      if (each.value("run_type", "iteration") != "iteration" || each.value("error_occurred", false)) continue;
      // Either no operation of the benchmark was timed, or the benchmark itself reported no time.
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
  constexpr double kSlack_ns = 1;  // slack of times that are read from the clock directly
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

}  // namespace zerotax::bench
