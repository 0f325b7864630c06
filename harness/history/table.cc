#include <fmt/format.h>

#include <algorithm>

#include "base/one_line.h"
#include "base/wrap.h"
#include "history/document.h"

namespace zerotax::history {
namespace {

constexpr std::size_t kMostName = 20;

std::string build_words(const Json& version) {
  const Json& build = version.at("build");
  if (is_not_available(build)) return "";
  if (version.at("build").at("state") != "built") return version.at("state") == "timeout" ? "timeout" : "fails";
  if (build.at("earlier").get<bool>()) return "cached";
  return fmt::format("{:.1f} s", build.at("seconds").get<double>());
}

}  // namespace

std::string history_text(const Json& history) {
  const Json& versions = history.at("versions");
  std::size_t names = 7;
  for (const Json& version : versions) names = std::max(names, version.at("name").get<std::string>().size());
  names = std::min(names, kMostName);
  std::string text = fmt::format("{:<{}}  {:<10}  {:>7}  {}\n", "version", names, "date", "build", "what it changed");
  const std::string further(names + 23, ' ');
  for (const Json& version : versions) {
    const std::string name = first_characters(one_line(version.at("name").get<std::string>()), names);
    const std::string head = fmt::format("{:<{}}  {:<10}  {:>7}  ", name, names,
                                         version.at("date").get<std::string>().substr(0, 10), build_words(version));
    text += wrap(one_line(version.at("sentence").get<std::string>()), head, further);
  }
  return text + "\n" + wrap(history.at("sentence").get<std::string>(), "", "  ");
}

}  // namespace zerotax::history
