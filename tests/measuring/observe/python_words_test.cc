#include "observe/python_words.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "observe/copy_writer.h"

namespace zerotax {
namespace {

constexpr std::uint64_t kType = 0x10000;        // the type `type`
constexpr std::uint64_t kList = 0x20000;        // a type whose objects have a header of the collector
constexpr std::uint64_t kInteger = 0x30000;     // a type whose objects have none
constexpr std::uint64_t kObject = 0x7f0000000;  // a list
constexpr std::uint64_t kNumber = 0x7f0001000;  // an integer
constexpr std::uint64_t kPool = 0x7f0004000;    // a pool of 16 KiB
constexpr std::uint64_t kFlags = 1 << 14;

/// The memory of a process, by words.
class Memory {
 public:
  Memory() {
    add_type(kType, kType, kFlags);
    add_type(kList, kType, kFlags);
    add_type(kInteger, kType, 0);
    std::memcpy(&words[kType + 0x100], "type\0\0\0", 8);
    words[kObject - 16] = words[kObject - 8] = kObject + 0x100;
    words[kObject] = 1;
    words[kObject + 8] = kList;
    words[kNumber - 8] = 0;
    words[kNumber] = 7;
    words[kNumber + 8] = kInteger;
  }
  void add_type(std::uint64_t at, std::uint64_t type, std::uint64_t flags) {
    words[at] = 100;
    words[at + 8] = type;
    words[at + 24] = at + 0x100;
    words[at + 168] = flags;
  }
  PythonWord at(std::uint64_t address, std::uint64_t instruction = 0) {
    return python.at(address, instruction, [this](std::uint64_t from, std::size_t bytes) {
      if (gone) return std::vector<unsigned char>();
      std::vector<unsigned char> found((bytes + 7) / 8 * 8);
      for (std::size_t i = 0; i < found.size(); i += 8) {
        const auto word = words.find(from + i);
        const std::uint64_t value = word == words.end() ? 0 : word->second;
        std::memcpy(&found[i], &value, 8);
      }
      found.resize(bytes);
      return found;
    });
  }

  std::map<std::uint64_t, std::uint64_t> words;
  bool gone = false;
  PythonWords python;
};

TEST(PythonWords, FindTheReferenceCountAndTheCollectorsHeader) {
  Memory memory;
  EXPECT_EQ(memory.at(kObject), PythonWord::kReferenceCount);
  EXPECT_EQ(memory.at(kObject - 8), PythonWord::kCollectorHeader);
  EXPECT_EQ(memory.at(kObject - 16), PythonWord::kCollectorHeader);
  EXPECT_EQ(memory.at(kObject + 8), PythonWord::kOther);
  EXPECT_EQ(memory.at(kObject + 16), PythonWord::kOther);
  EXPECT_EQ(memory.at(kObject + 4), PythonWord::kOther);
  EXPECT_EQ(memory.at(kNumber), PythonWord::kReferenceCount);
  EXPECT_EQ(memory.at(kNumber - 8), PythonWord::kOther);
}

TEST(PythonWords, AreNoFreeBlocksAndNoOtherStructures) {
  Memory memory;
  memory.words[kObject] = 0x7f0000000040;  // the next free block
  EXPECT_EQ(memory.at(kObject), PythonWord::kOther);
  EXPECT_EQ(memory.at(kObject - 8), PythonWord::kOther);
  memory.words[kObject] = (std::uint64_t{2} << 48) + 5;  // flags of CPython 3.14
  EXPECT_EQ(memory.at(kObject), PythonWord::kReferenceCount);
  memory.python = {};
  std::memcpy(&memory.words[kType + 0x100], "node\0\0\0", 8);
  EXPECT_EQ(memory.at(kObject), PythonWord::kOther);
  EXPECT_EQ(Memory().at(0x500000), PythonWord::kOther);
}

TEST(PythonWords, AreWhatTheInstructionWroteBeforeTheProcessEnded) {
  constexpr std::uint64_t kIncrement = 0x401000;
  constexpr std::uint64_t kMark = 0x402000;
  constexpr std::uint64_t kCopy = 0x403000;
  Memory memory;
  memory.at(kObject, kIncrement);
  memory.at(kNumber, kIncrement);
  memory.at(kObject - 16, kMark);
  memory.at(kObject - 16, kCopy);
  memory.at(kObject, kCopy);
  memory.gone = true;
  EXPECT_EQ(memory.at(kObject, kIncrement), PythonWord::kReferenceCount);
  EXPECT_EQ(memory.at(kObject, kMark), PythonWord::kCollectorHeader);
  EXPECT_EQ(memory.at(kObject, kCopy), PythonWord::kOther);
  EXPECT_EQ(memory.at(kObject, 0x404000), PythonWord::kOther);
}

TEST(PythonWords, FindTheHeaderOfAPool) {
  Memory memory;
  memory.words[kPool + 32] = std::uint64_t{3} << 32;                  // size class 3: blocks of 64 bytes
  memory.words[kPool + 40] = 48 + (std::uint64_t{16384 - 64} << 32);  // offsets of the next and the last block
  EXPECT_EQ(memory.at(kPool), PythonWord::kPoolHeader);
  EXPECT_EQ(memory.at(kPool + 8), PythonWord::kPoolHeader);
  EXPECT_EQ(memory.at(kPool + 48), PythonWord::kOther);
  memory.words[kPool + 40] = 48 + (std::uint64_t{16384 - 80} << 32);
  EXPECT_EQ(memory.at(kPool), PythonWord::kOther);
}

TEST(CopyWriter, FollowsFromTheFunctionAndFromTheMemory) {
  using enum StoreTarget;
  const auto writer = [](const char* function, const char* module, StoreTarget target, const char* after = "") {
    Frame frame{function, module};
    frame.after = after;
    return writer_of(frame, target);
  };
  EXPECT_EQ(writer("main", "server", kOther), Writer::kProgram);
  EXPECT_EQ(writer("0x1234", "server", kOther, "main+0x20"), Writer::kUnknown);
  EXPECT_EQ(writer("code that is in no file", "", kOther), Writer::kUnknown);
  EXPECT_EQ(writer("main", "server", kStack), Writer::kStacks);
  EXPECT_EQ(writer("copy_to_user", "kernel", kInSystemCall), Writer::kKernel);
  EXPECT_EQ(writer("main", "server", kFile), Writer::kFileData);
  EXPECT_EQ(writer("unlink_chunk.constprop.0", "libc.so.6", kOther), Writer::kAllocator);
  EXPECT_EQ(writer("0x96120", "libc.so.6", kOther, "__default_morecore+0xf0"), Writer::kAllocator);
  EXPECT_EQ(writer("0x90000", "libc.so.6", kOther, "fopen+0x100"), Writer::kUnknown);
  EXPECT_EQ(writer("malloc", "libc.so.6", kFile), Writer::kAllocator);
  EXPECT_EQ(writer("memset", "libc.so.6", kOther), Writer::kProgram);
  EXPECT_EQ(writer("0x1000", "libjemalloc.so.2", kOther, "je_malloc+0x9"), Writer::kAllocator);
  EXPECT_EQ(writer("0x50ba96", "python3.11", kCollectorHeader, "PyObject_Free+0x9"), Writer::kCollector);
  EXPECT_EQ(writer("0x50ba96", "python3.11", kReferenceCount, "PyObject_Free+0x9"), Writer::kReferenceCounts);
  EXPECT_EQ(writer("0x50ba96", "python3.11", kOther, "PyObject_Free+0x9"), Writer::kUnknown);
  EXPECT_EQ(writer("0x50ba96", "python3.11", kPoolHeader), Writer::kAllocator);
  EXPECT_EQ(writer("deduce_unreachable", "python3.13", kOther), Writer::kCollector);
  EXPECT_EQ(writer("deduce_unreachable", "server", kOther), Writer::kProgram);
  EXPECT_EQ(writer("gc_mark_children", "libruby-3.1.so.3.1", kOther), Writer::kCollector);
  EXPECT_EQ(writer("Py_DecRef", "python3.11", kOther), Writer::kReferenceCounts);
}

}  // namespace
}  // namespace zerotax
