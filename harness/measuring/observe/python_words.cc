#include "observe/python_words.h"

#include <array>
#include <cstring>
#include <string>

namespace zerotax {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
// Offsets of fields in a PyTypeObject.
constexpr std::size_t kTypeOfType = 8;
constexpr std::size_t kNameOfType = 24;
constexpr std::size_t kFlagsOfType = 168;
constexpr std::uint64_t kHasCollectorHeader = 1 << 14;  // Py_TPFLAGS_HAVE_GC
/// Maximum number of steps from a type to the type `type`. A class has a metaclass, which may have one of its own.
constexpr int kMostSteps = 4;
constexpr std::size_t kMostTypes = 1 << 16;
// struct pool_header. A pool has 4 KiB before CPython 3.10, and 16 KiB since.
constexpr std::uint64_t kPoolBytes[] = {4096, 16384};
constexpr std::size_t kPoolHeaderBytes = 48;
constexpr std::size_t kSizeClass = 36;
constexpr std::size_t kLastOffset = 44;
constexpr std::uint32_t kSizeClasses = 64;

template <typename T>
T value_at(const std::vector<unsigned char>& bytes, std::size_t offset) {
  T value{};
  if (offset + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

bool may_be_pointer(std::uint64_t word) { return word >= 4096 && word < std::uint64_t{1} << 47 && word % kWord == 0; }

/// Returns whether a word may be the reference count of a living object. The first word of a free block is 0 or the
/// address of the next free block. Since CPython 3.14, the upper 16 bits of the word are flags.
bool may_be_count(std::uint64_t word) { return word != 0 && (word >> 32 == 0 || word >> 48 != 0); }

/// Returns whether an address is in the header of a pool. The offset of a pool's last block follows from the size of
/// its blocks, which are multiples of 16 bytes (8 before CPython 3.7).
bool is_in_pool_header(std::uint64_t address, const PythonWords::Read& read) {
  for (const std::uint64_t bytes : kPoolBytes) {
    const std::uint64_t pool = address / bytes * bytes;
    if (address - pool >= kPoolHeaderBytes) continue;
    const std::vector<unsigned char> header = read(pool, kPoolHeaderBytes);
    if (header.size() < kPoolHeaderBytes) continue;
    const std::uint64_t size_class = value_at<std::uint32_t>(header, kSizeClass);
    const auto last = value_at<std::uint32_t>(header, kLastOffset);
    if (size_class >= kSizeClasses) continue;
    if (last == bytes - 16 * (size_class + 1) || last == bytes - 8 * (size_class + 1)) return true;
  }
  return false;
}

}  // namespace

PythonWords::Type PythonWords::type_at(std::uint64_t address, const Read& read) {
  if (!may_be_pointer(address)) return Type::kNone;
  if (const auto known = types_.find(address); known != types_.end()) return known->second;
  if (types_.size() >= kMostTypes) types_.clear();
  Type found = Type::kNone;
  std::uint64_t at = address;
  for (int step = 0; step < kMostSteps; ++step) {
    const auto next = value_at<std::uint64_t>(read(at + kTypeOfType, kWord), 0);
    if (!may_be_pointer(next)) break;
    if (next != at) {
      at = next;
      continue;
    }
    const auto name = value_at<std::uint64_t>(read(at + kNameOfType, kWord), 0);
    if (value_at<std::array<char, 5>>(read(name, 5), 0) != std::array<char, 5>{'t', 'y', 'p', 'e', '\0'}) break;
    const auto flags = value_at<std::uint64_t>(read(address + kFlagsOfType, kWord), 0);
    found = (flags & kHasCollectorHeader) != 0 ? Type::kCollected : Type::kUncollected;
    break;
  }
  types_[address] = found;
  return found;
}

PythonWord PythonWords::at(std::uint64_t address, std::uint64_t instruction, const Read& read) {
  PythonWord found = PythonWord::kOther;
  if (address % kWord == 0) {
    const std::vector<unsigned char> words = read(address, 4 * kWord);
    if (words.empty()) {
      const auto before = written_.find(instruction);
      return before == written_.end() ? PythonWord::kOther : before->second;
    }
    found = structure_of(address, words, read);
  }
  const auto [written, first] = written_.try_emplace(instruction, found);
  if (!first && written->second != found) written->second = PythonWord::kOther;
  return found;
}

PythonWord PythonWords::structure_of(std::uint64_t address, const std::vector<unsigned char>& words, const Read& read) {
  const auto word = [&](std::size_t number) { return value_at<std::uint64_t>(words, number * kWord); };
  // An object is a reference count and a type. Two words of the collector precede the object.
  if (may_be_count(word(0)) && type_at(word(1), read) != Type::kNone) return PythonWord::kReferenceCount;
  for (const std::size_t object : {1, 2}) {
    if (may_be_count(word(object)) && type_at(word(object + 1), read) == Type::kCollected) {
      return PythonWord::kCollectorHeader;
    }
  }
  return is_in_pool_header(address, read) ? PythonWord::kPoolHeader : PythonWord::kOther;
}

}  // namespace zerotax
