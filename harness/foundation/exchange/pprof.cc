#include "exchange/pprof.h"

#include <zlib.h>

#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "base/printable.h"

namespace zerotax::exchange {
namespace {

/// Writes a message of protocol buffers (https://protobuf.dev/programming-guides/encoding), with only the features that
/// a profile needs. The official library would need generated files in the build.
class Message {
 public:
  /// Omits a field that is 0, as in proto3.
  void number(unsigned field, std::uint64_t value) {
    if (value == 0) return;
    varint(field << 3);
    varint(value);
  }
  void number(unsigned field, std::int64_t value) { number(field, static_cast<std::uint64_t>(value)); }
  void bytes(unsigned field, const std::string& value) {
    varint(field << 3 | 2);
    varint(value.size());
    text_ += value;
  }
  void message(unsigned field, const Message& value) { bytes(field, value.text_); }
  /// Writes a repeated field, including numbers that are 0.
  template <typename T>
  void packed(unsigned field, const std::vector<T>& values) {
    Message all;
    for (const T value : values) all.varint(static_cast<std::uint64_t>(value));
    message(field, all);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }

  std::string text_;
};

/// The strings, functions and mappings that a profile refers to by number, each stored once.
class Tables {
 public:
  explicit Tables(Message& profile) : profile_(profile) { text(""); }

  std::int64_t text(const std::string& raw) {
    const std::string text = printable(raw);
    const auto [entry, is_new] = texts_.try_emplace(text, texts_.size());
    if (is_new) profile_.bytes(6, text);
    return static_cast<std::int64_t>(entry->second);
  }

  std::uint64_t location(const Pprof::Frame& frame) {
    const auto key = std::tuple(frame.function, frame.file, frame.module, frame.address, frame.line);
    const auto [entry, is_new] = locations_.try_emplace(key, locations_.size() + 1);
    if (!is_new) return entry->second;
    Message line;
    line.number(1, function(frame));
    line.number(2, frame.line);
    Message location;
    location.number(1, entry->second);
    location.number(2, mapping(frame.module));
    location.number(3, frame.address);
    location.message(4, line);
    profile_.message(4, location);
    return entry->second;
  }

 private:
  std::uint64_t mapping(const std::string& module) {
    if (module.empty()) return 0;
    const auto [entry, is_new] = mappings_.try_emplace(module, mappings_.size() + 1);
    if (!is_new) return entry->second;
    Message mapping;
    mapping.number(1, entry->second);
    mapping.number(5, text(module));
    // has_functions, has_filenames and has_line_numbers tell readers that they need not look for symbols themselves.
    for (const unsigned known : {7U, 8U, 9U}) mapping.number(known, std::uint64_t{1});
    profile_.message(3, mapping);
    return entry->second;
  }

  std::uint64_t function(const Pprof::Frame& frame) {
    const auto [entry, is_new] = functions_.try_emplace({frame.function, frame.file}, functions_.size() + 1);
    if (!is_new) return entry->second;
    Message function;
    function.number(1, entry->second);
    function.number(2, text(frame.function));
    function.number(3, text(frame.function));
    function.number(4, text(frame.file));
    profile_.message(5, function);
    return entry->second;
  }

  Message& profile_;
  std::map<std::string, std::uint64_t> texts_;
  std::map<std::string, std::uint64_t> mappings_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> functions_;
  std::map<std::tuple<std::string, std::string, std::string, std::uint64_t, std::int64_t>, std::uint64_t> locations_;
};

std::string gzipped(const std::string& text) {
  constexpr int kGzip = 16 + MAX_WBITS;
  constexpr int kMemory = 8;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("zlib could not be started");
  }
  // The comment that marks the file as replaceable by the next recording (files/output_kind.h).
  std::string comment = "zerotax";
  gz_header head{};
  head.comment = reinterpret_cast<Bytef*>(comment.data());
  head.os = 3;  // Unix, as zlib writes for a default header
  deflateSetHeader(&stream, &head);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  std::string input = text;  // zlib takes a pointer to writable input
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int done = deflate(&stream, Z_FINISH);
  deflateEnd(&stream);
  if (done != Z_STREAM_END) throw std::runtime_error("zlib could not compress the profile");
  return packed.substr(0, stream.total_out);
}

}  // namespace

std::string pprof_file(const Pprof& profile) {
  Message message;
  Tables tables(message);
  for (const Pprof::Type& type : profile.types) {
    Message value;
    value.number(1, tables.text(type.name));
    value.number(2, tables.text(type.unit));
    message.message(1, value);
  }
  for (const Pprof::Sample& sample : profile.samples) {
    std::vector<std::uint64_t> locations;
    for (const Pprof::Frame& frame : sample.frames) locations.push_back(tables.location(frame));
    Message one;
    one.packed(1, locations);
    one.packed(2, sample.values);
    if (!sample.kind.empty()) {
      Message label;
      label.number(1, tables.text("kind"));
      label.number(2, tables.text(sample.kind));
      one.message(3, label);
    }
    message.message(2, one);
  }
  message.number(9, profile.time_ns);
  message.number(10, profile.duration_ns);
  std::vector<std::int64_t> comments;
  for (const std::string& comment : profile.comments) comments.push_back(tables.text(comment));
  if (!comments.empty()) message.packed(13, comments);
  message.number(14, tables.text(profile.first_type));
  return gzipped(message.text());
}

}  // namespace zerotax::exchange
