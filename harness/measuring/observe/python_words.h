#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

namespace zerotax {

/// The structure of CPython to which a word in memory belongs.
enum class PythonWord {
  kOther,
  kReferenceCount,   ///< first word of an object
  kCollectorHeader,  ///< one of the two words that the garbage collector keeps before an object
  kPoolHeader,       ///< header of a pool of pymalloc, the allocator of small objects
};

/// Finds the structures of CPython (2.7 and later, on 64-bit machines, with the global lock) in the memory of a
/// process. The search needs no symbols: it follows an object's type to the type `type`, which is its own type, and
/// checks that type's name. Sources: Include/object.h, Include/internal/pycore_gc.h and pycore_obmalloc.h of CPython.
class PythonWords {
 public:
  /// Returns up to `bytes` of the process's memory at an address; empty if the memory cannot be read.
  using Read = std::function<std::vector<unsigned char>(std::uint64_t address, std::size_t bytes)>;

  /// Returns the structure of the word that an instruction wrote at an address. If the word is unreadable, returns the
  /// structure of the instruction's earlier words; kOther if they differ or none exist.
  PythonWord at(std::uint64_t address, std::uint64_t instruction, const Read& read);

 private:
  enum class Type : std::uint8_t { kNone, kUncollected, kCollected };

  PythonWord structure_of(std::uint64_t address, const std::vector<unsigned char>& words, const Read& read);
  Type type_at(std::uint64_t address, const Read& read);

  std::unordered_map<std::uint64_t, Type> types_;          ///< addresses that were examined
  std::unordered_map<std::uint64_t, PythonWord> written_;  ///< each instruction's structure; kOther if several
};

}  // namespace zerotax
