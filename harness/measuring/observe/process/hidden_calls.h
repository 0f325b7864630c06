#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace zerotax {

/// The module at an address, or nullptr.
using FindModule = std::function<Dwfl_Module*(std::uint64_t address)>;

/// Finds calls of malloc's family that have left no frame: a function that ends by jumping to another, as glibc's
/// calloc does to memset, is replaced on the stack by that one. But the call itself is behind it, in its caller's code,
/// and names its target: by a stub of the procedure linkage table, by a slot of the global offset table, or directly.
class HiddenCalls {
 public:
  struct Target {
    std::string name;    ///< "calloc"
    std::string module;  ///< file that defines it for this program
    std::uint64_t address = 0;
  };

  /// The target of the call before a return address, if that is a function of malloc's family. `files`: an address in
  /// each, in the order in which they were loaded, which is that in which a symbol is looked up.
  const Target* called_before(const FindModule& find, std::uint64_t address, const std::vector<std::uint64_t>& files);

 private:
  const Target* definition(const FindModule& find, const std::string& name, const std::vector<std::uint64_t>& files);

  std::vector<std::uint64_t> files_;  ///< the files for which by_name_ holds
  std::map<std::string, Target> by_name_;
};

}  // namespace zerotax
