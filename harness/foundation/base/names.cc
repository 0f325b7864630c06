#include "base/names.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "base/lines.h"
#include "base/printable.h"

namespace zerotax {

std::string demangled(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol, nullptr, nullptr, &status), std::free);
  constexpr std::size_t kMost = 2000;
  return first_characters(printable(status == 0 && text ? text.get() : symbol), kMost);
}

std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

}  // namespace zerotax
