#include "observe/kernel_symbols.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <system_error>

namespace zerotax {

KernelSymbols::KernelSymbols(const std::string& path) {
  // "ffffffff81000000 T _stext", and what follows a blank is a module: some 200,000 lines, before anything is sampled.
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::uint64_t address = 0;
    const char* end = line.data() + line.size();
    const auto [rest, error] = std::from_chars(line.data(), end, address, 16);
    if (error != std::errc() || address == 0 || end - rest < 4 || rest[0] != ' ' || rest[2] != ' ') continue;
    const char kind = rest[1];
    if (kind != 't' && kind != 'T' && kind != 'w' && kind != 'W') continue;
    const char* name = rest + 3;
    by_address_.emplace_hint(by_address_.end(), address,
                             std::string(name, std::find_if(name, end, [](char c) { return c == ' ' || c == '\t'; })));
  }
}

std::string KernelSymbols::name(std::uint64_t address) const {
  const auto above = by_address_.upper_bound(address);
  return above == by_address_.begin() ? kUnknown : std::prev(above)->second;
}

Frame KernelSymbols::frame(std::uint64_t address) const {
  const auto above = by_address_.upper_bound(address);
  const std::uint64_t offset = above == by_address_.begin() ? 0 : address - std::prev(above)->first;
  return {name(address), "kernel", address, offset};
}

}  // namespace zerotax
