#include "snapshot/process/memory.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

namespace snapshot {
namespace {

constexpr std::uint64_t kStatBlock = 512;  // unit of st_blocks, stat(2)

}  // namespace

SharedMemory::SharedMemory(const char* name, std::size_t bytes, bool populate)
    : fd_(::memfd_create(name, MFD_CLOEXEC)) {
  if (!fd_ || ::ftruncate(fd_.get(), static_cast<off_t>(bytes)) != 0) {
    throw std::runtime_error("no shared memory (memfd_create)");
  }
  void* begin =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (populate ? MAP_POPULATE : 0), fd_.get(), 0);
  if (begin == MAP_FAILED) throw std::runtime_error("no shared memory (mmap)");
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  range_ = {address, address + bytes};
}

std::uint64_t SharedMemory::populated_bytes() const {
  struct stat status {};
  return fd_ && ::fstat(fd_.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_blocks) * kStatBlock : 0;
}

zerotax::AddressRange private_array(std::size_t bytes) {
  void* block = std::calloc(1, bytes + zerotax::huge_page_bytes());
  if (block == nullptr) throw std::runtime_error("calloc gave no memory for the array");
  const auto begin =
      (reinterpret_cast<std::uintptr_t>(block) + zerotax::huge_page_bytes() - 1) & ~(zerotax::huge_page_bytes() - 1);
  return {begin, begin + bytes};
}

zerotax::AddressRange value_initialised_array(std::size_t bytes) {
  void* block = ::operator new(bytes);
  std::memset(block, 0, bytes);
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  return {begin, begin + bytes};
}

}  // namespace snapshot
