#pragma once

#include <unistd.h>
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "record/calls/format.h"
#include "record/calls/result.h"

namespace zerotax {

inline void append_part(std::string& to, std::uint32_t kind, std::uint32_t process, const std::string& raw) {
  uLongf bytes = ::compressBound(raw.size());
  std::string stored(bytes, '\0');
  ::compress(reinterpret_cast<Bytef*>(stored.data()), &bytes, reinterpret_cast<const Bytef*>(raw.data()), raw.size());
  stored.resize(bytes);
  const auto sum = ::crc32(0, reinterpret_cast<const Bytef*>(stored.data()), static_cast<uInt>(bytes));
  const record::CallsPart head{kind, process, static_cast<std::uint32_t>(bytes), static_cast<std::uint32_t>(raw.size()),
                               static_cast<std::uint32_t>(sum)};
  to.append(reinterpret_cast<const char*>(&head), sizeof head);
  to += stored;
}

/// Returns a file of recorded calls with these events. The processes are separate, or those in `about`.
inline std::string calls_file(const std::vector<std::string>& events, record::CallsAbout about = {}) {
  std::string file(record::kCallsMagic);
  file.append(reinterpret_cast<const char*>(&record::kCallsVersion), sizeof record::kCallsVersion);
  file.resize(record::kCallsHeadBytes);
  for (std::uint32_t i = 0; i < events.size(); ++i) append_part(file, record::kCallsOfProcess, i, events[i]);
  if (about.processes.empty()) about.processes.resize(events.size());
  append_part(file, record::kAboutCalls, 0, json_text(Json(about)));
  return file;
}

inline void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// A sequence of events.
class Events {
 public:
  Events& add(record::EventKind kind, std::uint64_t first, const std::vector<std::uint64_t>& more = {}) {
    record::append_event(text, kind, first);
    for (const std::uint64_t value : more) record::append_varint(text, value);
    return *this;
  }
  std::string text;
};

}  // namespace zerotax
