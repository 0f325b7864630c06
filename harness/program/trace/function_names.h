#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "observe/symbols.h"
#include "trace/ctf_trace.h"

namespace zerotax::trace {

/// Names of the functions in a trace, by the program files that it says were loaded (function_module).
class FunctionNames {
 public:
  /// Takes a function_module event; leaves any other.
  void add(const std::string& process, const CtfEvent& event);

  /// The names of an address in a process's memory.
  const NamedFrame& frame(const std::string& process, std::uint64_t address);

  /// In few words: "read_request", "0x1234".
  std::string label(const std::string& process, std::uint64_t address);

 private:
  struct Module {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t bias = 0;
    std::string path;
    std::vector<unsigned char> build_id;
  };
  Symbols symbols_;
  std::map<std::string, std::vector<Module>> modules_;
  std::map<std::pair<std::string, std::uint64_t>, NamedFrame> frames_;
};

}  // namespace zerotax::trace
