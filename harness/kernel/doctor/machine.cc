#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "doctor/check.h"

namespace zerotax::doctor {
namespace {

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t");
  const auto end = text.find_last_not_of(" \t\n");
  return begin == std::string::npos || end == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

}  // namespace

Reading Machine::text(const std::string& path) const {
  constexpr std::size_t kMost = 1 << 20;
  std::ifstream file(root_ + path, std::ios::binary);
  std::string text(kMost, '\0');
  errno = 0;
  if (file) file.read(text.data(), static_cast<std::streamsize>(kMost));
  // Some files of /proc and /sys can be opened but not read.
  if (!file.is_open() || file.bad() || (file.gcount() == 0 && errno != 0)) {
    return {std::nullopt, fmt::format("{} cannot be read ({})", path, std::strerror(errno != 0 ? errno : ENOENT))};
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return {std::move(text), ""};
}

Reading Machine::line(const std::string& path) const {
  Reading found = text(path);
  if (found) found.text = trimmed(found.text->substr(0, found.text->find('\n')));
  return found;
}

std::optional<std::int64_t> Machine::number(const std::string& path) const {
  const Reading found = line(path);
  std::int64_t value = 0;
  if (!found) return std::nullopt;
  const auto [end, error] = std::from_chars(found.text->data(), found.text->data() + found.text->size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::optional<std::string> Machine::field(const std::string& path, const std::string& key) const {
  const Reading found = text(path);
  if (!found) return std::nullopt;
  std::istringstream lines(*found.text);
  for (std::string each; std::getline(lines, each);) {
    const auto colon = each.find(':');
    if (colon != std::string::npos && trimmed(each.substr(0, colon)) == key) return trimmed(each.substr(colon + 1));
  }
  return std::nullopt;
}

std::vector<std::string> Machine::names(const std::string& folder) const {
  std::vector<std::string> found;
  std::error_code failure;
  for (std::filesystem::directory_iterator each(root_ + folder, failure), end; !failure && each != end;
       each.increment(failure)) {
    found.push_back(each->path().filename().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool Machine::has_capability(unsigned bit) const {
  const auto text = field("/proc/self/status", "CapEff");
  if (!text) return false;
  std::uint64_t bits = 0;
  std::from_chars(text->data(), text->data() + text->size(), bits, 16);
  return ((bits >> bit) & 1) != 0;
}

std::size_t Machine::allowed_cpus() const {
  return std::max<std::size_t>(1, count_of_list(field("/proc/self/status", "Cpus_allowed_list").value_or("0")));
}

std::size_t count_of_list(const std::string& list) {
  std::istringstream parts(list);
  std::size_t count = 0;
  for (std::string part; std::getline(parts, part, ',');) {
    std::size_t first = 0;
    const auto [middle, error] = std::from_chars(part.data(), part.data() + part.size(), first);
    if (error != std::errc()) continue;
    std::size_t last = first;
    if (*middle == '-') std::from_chars(middle + 1, part.data() + part.size(), last);
    if (last >= first) count += last - first + 1;
  }
  return count;
}

}  // namespace zerotax::doctor
