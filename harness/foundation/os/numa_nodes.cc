#include "os/numa_nodes.h"

#include <cctype>
#include <fstream>

namespace zerotax {
namespace {

constexpr unsigned kMostNodes = 1024;  // MAX_NUMNODES of the kernel, include/linux/numa.h

/// Reads the number at a position of the text and advances past it. Returns kMostNodes if there is no number.
unsigned number_at(const std::string& text, std::size_t& at) {
  if (at >= text.size() || std::isdigit(static_cast<unsigned char>(text[at])) == 0) return kMostNodes;
  unsigned value = 0;
  while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0 && value < kMostNodes) {
    value = 10 * value + static_cast<unsigned>(text[at++] - '0');
  }
  return value;
}

}  // namespace

std::vector<unsigned> numbers_of_list(const std::string& text) {
  std::vector<unsigned> numbers;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const unsigned first = number_at(text, at);
    if (first >= kMostNodes) break;
    unsigned last = first;
    if (at < text.size() && text[at] == '-') last = number_at(text, ++at);
    if (last >= kMostNodes) break;
    for (unsigned number = first; number <= last; ++number) numbers.push_back(number);
    if (at < text.size() && text[at] != ',') break;
  }
  return numbers;
}

std::vector<unsigned> numa_nodes() {
  std::string text;
  std::ifstream file("/sys/devices/system/node/has_memory");
  std::getline(file, text);
  std::vector<unsigned> nodes = numbers_of_list(text);
  if (nodes.empty()) nodes = {0};
  return nodes;
}

}  // namespace zerotax
