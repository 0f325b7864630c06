#include "observe/kernel_symbols.h"

#include <fstream>
#include <sstream>

namespace zerotax {

KernelSymbols::KernelSymbols(const std::string& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::uint64_t address = 0;
    char kind = 0;
    std::string name;
    if (!(words >> std::hex >> address >> kind >> name) || address == 0) continue;
    if (kind == 't' || kind == 'T' || kind == 'w' || kind == 'W') by_address_.emplace(address, name);
  }
}

std::string KernelSymbols::name(std::uint64_t address) const {
  const auto above = by_address_.upper_bound(address);
  return above == by_address_.begin() ? "kernel function" : std::prev(above)->second;
}

Frame KernelSymbols::frame(std::uint64_t address) const {
  const auto above = by_address_.upper_bound(address);
  const std::uint64_t offset = above == by_address_.begin() ? 0 : address - std::prev(above)->first;
  return {name(address), "kernel", address, offset};
}

}  // namespace zerotax
