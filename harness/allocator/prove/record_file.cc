#include "prove/record_file.h"

#include <fmt/format.h>

#include <cstring>
#include <fstream>

#include "base/error.h"

namespace zerotax::prove {
namespace {

constexpr char kMagic[] = "zprove1";
/// The process writes at most 2,100,000 operations (process/supervise.c).
constexpr std::uint64_t kMostOps = 1U << 24;

[[noreturn]] void refuse(const std::string& path, const char* problem) {
  throw UsageError(fmt::format("{} {}", path, problem), "give a record that zerotax prove --out wrote");
}

head head_of(std::ifstream& file, const std::string& path) {
  head read{};
  if (!file.read(reinterpret_cast<char*>(&read), sizeof read)) refuse(path, "is shorter than a record of prove");
  if (std::memcmp(&read.magic[0], &kMagic[0], sizeof kMagic) != 0) refuse(path, "is not a record of prove");
  if (read.ops > kMostOps) refuse(path, "is damaged: it names too many operations");
  return read;
}

}  // namespace

head read_head(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return head_of(file, path);
}

RecordFile read_record(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  RecordFile record{head_of(file, path), {}};
  record.ops.resize(record.counters.ops);
  file.seekg(kHeadBytes);
  const auto bytes = static_cast<std::streamsize>(record.ops.size() * sizeof(Op));
  if (!file.read(reinterpret_cast<char*>(record.ops.data()), bytes)) {
    refuse(path, "is damaged: it has fewer operations than its head says");
  }
  return record;
}

void write_record(const std::string& path, const head& counters, const Ops& ops) {
  std::vector<char> whole(kHeadBytes);
  head changed = counters;
  changed.capacity = changed.ops = ops.size();
  changed.finding = kNoFinding;
  changed.finding_op = 0;
  std::memcpy(whole.data(), &changed, sizeof changed);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(whole.data(), static_cast<std::streamsize>(whole.size()));
  file.write(reinterpret_cast<const char*>(ops.data()), static_cast<std::streamsize>(ops.size() * sizeof(Op)));
  if (!file.flush()) {
    throw MachineError(fmt::format("{} cannot be written", path), "free space in the folder of temporary files");
  }
}

}  // namespace zerotax::prove
