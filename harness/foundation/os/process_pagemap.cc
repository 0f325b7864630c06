#include "os/process_pagemap.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "os/process_info.h"

namespace zerotax {

int ProcessPagemaps::open(pid_t pid) {
  constexpr std::size_t kMostOpen = 128;
  const auto known = open_.find(pid);
  if (known != open_.end()) return known->second.get();
  if (open_.size() >= kMostOpen) open_.clear();
  UniqueFd fd(::open(fmt::format("/proc/{}/pagemap", living_thread(pid)).c_str(), O_RDONLY | O_CLOEXEC));
  const int number = fd.get();
  if (fd) open_[pid] = std::move(fd);
  return number;
}

std::optional<PagemapEntry> ProcessPagemaps::entry(pid_t pid, std::uint64_t page) {
  std::uint64_t bits = 0;
  const int fd = open(pid);
  if (fd < 0 || ::pread(fd, &bits, sizeof bits, static_cast<off_t>(page * sizeof bits)) != sizeof bits) {
    return std::nullopt;
  }
  return PagemapEntry(bits);
}

bool ProcessPagemaps::for_each(pid_t pid, AddressRange range,
                               const std::function<void(std::uint64_t page, PagemapEntry)>& visit) {
  const int fd = open(pid);
  if (fd < 0) return false;
  std::vector<std::uint64_t> bits(8192);
  std::uint64_t page = range.begin / page_bytes();
  const std::uint64_t end = range.end / page_bytes();
  while (page < end) {
    const std::size_t wanted = std::min<std::uint64_t>(bits.size(), end - page) * sizeof bits[0];
    const ssize_t got = ::pread(fd, bits.data(), wanted, static_cast<off_t>(page * sizeof bits[0]));
    if (got <= 0) return false;
    for (std::size_t i = 0; i < static_cast<std::size_t>(got) / sizeof bits[0]; ++i, ++page) {
      const PagemapEntry found(bits[i]);
      if (found.populated()) visit(page, found);
    }
  }
  return true;
}

std::optional<std::uint64_t> ProcessPagemaps::shared_pages(pid_t pid, AddressRange range) {
  constexpr std::uint64_t kLargestRead = std::uint64_t{64} << 30;
  const int fd = open(pid);
  if (fd < 0) return std::nullopt;
  if (!method_) method_ = Pagemap().method();
  std::vector<AddressRange> resident{range};
  if (method_ == Pagemap::Method::kScan) {
    // A mapping may reserve terabytes of addresses, so the pages in memory are found first.
    resident.clear();
    const auto add = [](void* ranges, AddressRange pages) {
      static_cast<std::vector<AddressRange>*>(ranges)->push_back(pages);
    };
    Pagemap pagemap(UniqueFd(fd), *method_);
    const bool scanned = pagemap.for_each_resident(range, add, &resident);
    (void)pagemap.release();
    if (!scanned) return std::nullopt;
  } else if (range.bytes() > kLargestRead) {
    return std::nullopt;
  }
  std::uint64_t pages = 0;
  const auto count = [&](std::uint64_t, PagemapEntry entry) {
    if (entry.present() && !entry.of_file() && !entry.exclusive()) ++pages;
  };
  for (const AddressRange& each : resident) {
    if (!for_each(pid, each, count)) return std::nullopt;
  }
  return pages;
}

}  // namespace zerotax
