#include "snapshot/process/job.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <type_traits>

#include "os/page.h"
#include "snapshot/process/placement.h"

namespace zerotax::snapshot {
namespace {

constexpr unsigned kMostThreads = 256;
constexpr unsigned kMostPasses = 1000;
constexpr unsigned kMostDescriptor = 1 << 20;

std::uint64_t number(const std::string& key, const std::string& text, std::uint64_t least, std::uint64_t most) {
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
  if (!text.empty() && *end == '\0' && text[0] != '-' && value >= least && value <= most) return value;
  throw std::invalid_argument(key + "=" + text + " is not from " + std::to_string(least) + " to " +
                              std::to_string(most));
}

void set(Parameters& parameters, const std::string& key, const std::string& text) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 46;
  const auto bounded = [&](auto& value, std::uint64_t least, std::uint64_t most) {
    value = static_cast<std::remove_reference_t<decltype(value)>>(number(key, text, least, most));
  };
  if (key == "alternative") {
    parameters.alternative = text;
    return;
  }
  if (key == "array") return bounded(parameters.array_bytes, page_bytes(), kMostBytes);
  if (key == "batch") return bounded(parameters.batch_bytes, page_bytes(), kMostBytes);
  if (key == "writers") return bounded(parameters.writers, 1, kMostThreads);
  if (key == "checkpointers") return bounded(parameters.checkpointers, 1, kMostThreads);
  if (key == "passes") return bounded(parameters.passes, 1, kMostPasses);
  if (key == "memory") return bounded(parameters.memory, 0, 1);
  if (key == "cpu") return bounded(parameters.cpu, 0, 1);
  if (key == "pagemap") return bounded(parameters.pagemap, 0, 1);
  if (key == "result") return bounded(parameters.result, 0, kMostDescriptor);
  if (key == "placement") {
    static_cast<void>(Placement{text});  // throws
    parameters.placement = text;
    return;
  }
  if (key != "hold") throw std::invalid_argument("unknown word " + key);
  parameters.hold = std::strtod(text.c_str(), nullptr);
  if (!(parameters.hold >= 0 && parameters.hold <= 1)) throw std::invalid_argument("hold is not from 0 to 1");
}

constexpr std::uint64_t kStatBlock = 512;  // unit of st_blocks, stat(2)

}  // namespace

std::uint64_t Parameters::held_batches() const {
  return hold < 0 ? batches() : static_cast<std::uint64_t>(std::ceil(hold * static_cast<double>(batches())));
}

Parameters parse_parameters(int count, char** words) {
  Parameters parameters;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto equals = word.find('=');
    if (equals == std::string::npos) throw std::invalid_argument(word + " is not KEY=VALUE");
    set(parameters, word.substr(0, equals), word.substr(equals + 1));
  }
  if (parameters.alternative.empty()) throw std::invalid_argument("no alternative=NAME is given (--list has them)");
  for (const auto& [name, bytes] : {std::pair("array", parameters.array_bytes), {"batch", parameters.batch_bytes}}) {
    if (bytes == 0 || bytes % page_bytes() != 0) {
      throw std::invalid_argument(std::string(name) + " is not a multiple of " + std::to_string(page_bytes()));
    }
  }
  if (parameters.batch_bytes > parameters.array_bytes) throw std::invalid_argument("batch is larger than the array");
  if (parameters.result < 0)
    throw std::invalid_argument("no result=DESCRIPTOR is given (zerotax snapshot passes a descriptor)");
  return parameters;
}

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

AddressRange private_array(std::size_t bytes) {
  void* block = std::calloc(1, bytes + huge_page_bytes());
  if (block == nullptr) throw std::runtime_error("calloc returned NULL for the array");
  const auto begin = (reinterpret_cast<std::uintptr_t>(block) + huge_page_bytes() - 1) & ~(huge_page_bytes() - 1);
  return {begin, begin + bytes};
}

AddressRange value_initialised_array(std::size_t bytes) {
  void* block = ::operator new(bytes);
  std::memset(block, 0, bytes);
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  return {begin, begin + bytes};
}

}  // namespace zerotax::snapshot
