#include "record/inside.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "os/input_file.h"

namespace zerotax::record {
namespace {

std::string bytes_of(const std::string& path) {
  try {
    return read_input_file(path);
  } catch (const UsageError&) {
    return "";
  }
}

bool is_of_name(char letter) {
  return letter == '_' || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9');
}

/// The whole C strings in a file that end with `end`.
std::set<std::string> words_with_end(const std::string& bytes, const std::string& end) {
  std::set<std::string> found;
  const std::string wanted = end + '\0';
  for (std::size_t at = bytes.find(wanted); at != std::string::npos; at = bytes.find(wanted, at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && is_of_name(bytes[begin - 1])) --begin;
    // The end of another text is not a name.
    if (begin > 0 && bytes[begin - 1] == '\0') found.insert(bytes.substr(begin, at + end.size() - begin));
  }
  return found;
}

}  // namespace

std::vector<InsideAllocator> allocators_inside(const std::vector<std::string>& files) {
  std::vector<InsideAllocator> found;
  const auto add = [&](const InsideAllocator& inside) {
    const auto same = [&](const InsideAllocator& each) {
      return each.allocator == inside.allocator && each.variables == inside.variables;
    };
    if (std::none_of(found.begin(), found.end(), same)) found.push_back(inside);
  };
  const std::map<std::string, InsideMarks> known = inside_marks();
  for (const std::string& file : files) {
    const std::string bytes = bytes_of(file);
    for (const auto& [allocator, marks] : known) {
      if (bytes.find(marks.text) == std::string::npos) continue;
      if (!marks.variable) {
        add({allocator, file, {}});
        continue;
      }
      for (const std::string& name : words_with_end(bytes, *marks.variable)) {
        add({allocator, file, {{*marks.variable, name}}});
      }
    }
  }
  return found;
}

std::optional<bool> has_text(const std::string& file, const std::string& name) {
  const std::string bytes = bytes_of(file);
  if (bytes.empty()) return std::nullopt;
  return bytes.find(name + '\0') != std::string::npos;
}

}  // namespace zerotax::record
