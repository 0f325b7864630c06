#include <fmt/format.h>

#include <pugixml.hpp>

#include "base/error.h"
#include "bench/framework.h"

namespace zerotax::bench {
namespace {

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

}  // namespace

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

}  // namespace zerotax::bench
