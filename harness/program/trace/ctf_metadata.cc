#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <regex>
#include <string_view>

#include "base/error.h"
#include "trace/ctf_trace.h"

namespace zerotax::trace {
namespace {

__extension__ using Wide = __int128;
constexpr const char* kRemedy = "give the folder that ZEROTAX_TRACE_DIR named; read other traces with babeltrace2";

std::uint64_t parse_number(const std::string& text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Whether a line is too long for the regular expressions of the C++ library: their matching recurses for each
/// character.
bool has_long_line(const std::string& text) {
  constexpr std::size_t kLongest = std::size_t{16} * 1024;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end - begin > kLongest) return true;
    begin = end + 1;
  }
  return false;
}

/// Settings of a block, from lines like `key = value;` and `key = "value";`.
using Settings = std::map<std::string, std::string>;

Settings settings_of(const std::string& text, const std::string& block) {
  Settings found;
  const auto begin = text.find("\n" + block + " {\n");
  const auto end = begin == std::string::npos ? begin : text.find("\n};", begin);
  if (end == std::string::npos) return found;
  static const std::regex line(R"re(\n  (\w+) = +(?:"([^"\n]*)"|(\w+));)re");
  const std::string part = text.substr(begin, end - begin);
  for (std::sregex_iterator i(part.begin(), part.end(), line), none; i != none; ++i) {
    found[(*i)[1]] = (*i)[2].matched ? (*i)[2].str() : (*i)[3].str();
  }
  return found;
}

std::optional<std::string> setting(const Settings& settings, const char* name) {
  const auto found = settings.find(name);
  return found == settings.end() ? std::nullopt : std::optional(found->second);
}

std::uint64_t number_of(const Settings& settings, const char* name) {
  return parse_number(setting(settings, name).value_or(""));
}

/// Reads the process and its clocks from the `env` block.
CtfMetadata parse_env(const Settings& env) {
  CtfMetadata metadata;
  metadata.pid = static_cast<pid_t>(number_of(env, "vpid"));
  metadata.process_name = setting(env, "procname").value_or("");
  metadata.mode = setting(env, "mode");
  metadata.clock_source = setting(env, "clock_source");
  metadata.records_without_stream = number_of(env, "records_without_stream");
  metadata.begin_ticks = number_of(env, "calibration_begin_ticks");
  metadata.begin_monotonic_ns = number_of(env, "calibration_begin_monotonic_ns");
  metadata.begin_realtime_ns = number_of(env, "calibration_begin_realtime_ns");
  return metadata;
}

std::string bytes_of_uuid(std::string text) {
  std::erase(text, '-');
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    unsigned byte = 0;
    const auto [end, failure] = std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
    if (failure != std::errc() || end != text.data() + i + 2) return "";
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

CtfType parse_type(const std::string& body) {
  static const std::regex line(R"(\n    (integer|floating_point) \{ ([^}\n]*)\} _(\w+)(?:\[(\d+)\])?;)");
  static const std::regex name(R"re(\n  name = "([\w:]+)";)re");
  CtfType type;
  std::smatch match;
  if (std::regex_search(body, match, name)) type.name = match[1];
  // Only names of tracepoints contain a colon; names of a program's own events never do.
  type.of_kernel = type.name.starts_with("kernel_") || type.name.find(':') != std::string::npos;
  for (std::sregex_iterator i(body.begin(), body.end(), line), none; i != none; ++i) {
    const std::string how = (*i)[2];
    CtfField field;
    field.name = (*i)[3];
    field.array = (*i)[4].matched;
    field.count = field.array ? static_cast<std::uint32_t>(parse_number((*i)[4])) : 1;
    const auto align = how.find("align = ");
    constexpr std::uint64_t kMostBits = 64;
    if (align != std::string::npos) {
      field.bytes = static_cast<std::uint32_t>(std::min(parse_number(how.substr(align + 8)), kMostBits) / 8);
    }
    if (field.bytes == 0) field.bytes = 1;
    field.kind = (*i)[1] == "floating_point"                        ? CtfField::Kind::kFloat
                 : how.find("encoding = UTF8") != std::string::npos ? CtfField::Kind::kText
                 : how.find("signed = true") != std::string::npos   ? CtfField::Kind::kSigned
                                                                    : CtfField::Kind::kUnsigned;
    field.offset = (type.bytes + field.bytes - 1) / field.bytes * field.bytes;
    type.bytes = field.offset + field.bytes * field.count;
    type.fields.push_back(std::move(field));
  }
  return type;
}

}  // namespace

const CtfField* CtfType::field(std::string_view called) const {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const CtfField& each) { return each.name == called; });
  return found == fields.end() ? nullptr : &*found;
}

std::int64_t CtfMetadata::monotonic_ns(std::uint64_t ticks) const {
  const Wide since = static_cast<Wide>(ticks) - static_cast<Wide>(begin_ticks);
  return static_cast<std::int64_t>(begin_monotonic_ns) +
         static_cast<std::int64_t>(since * 1'000'000'000 / static_cast<Wide>(frequency));
}

CtfMetadata parse_ctf_metadata(const std::string& text, const std::string& path, std::string& problem) {
  if (has_long_line(text)) throw UsageError(fmt::format("'{}' is damaged: a line is too long", path), kRemedy);
  const Settings env = settings_of(text, "env");
  if (!text.starts_with("/* CTF 1.8 */") || setting(env, "tracer_name") != "zerotax-recorder") {
    throw UsageError(fmt::format("'{}' was not written by zerotax's recorder, or is damaged", path), kRemedy);
  }
  CtfMetadata metadata = parse_env(env);
  metadata.uuid = bytes_of_uuid(setting(settings_of(text, "trace"), "uuid").value_or(""));
  metadata.frequency = number_of(settings_of(text, "clock"), "freq");
  if (metadata.uuid.size() != 16 || metadata.frequency == 0) {
    throw UsageError(fmt::format("'{}' is damaged: it has no clock", path), kRemedy);
  }
  static const std::string kBegin = "\nevent {\n  id = ";
  for (auto at = text.find(kBegin); at != std::string::npos; at = text.find(kBegin, at + 1)) {
    const auto end = text.find("\n};", at);
    if (end == std::string::npos) {
      problem = fmt::format("{}: the last type of event is cut off", path);
      break;
    }
    const std::string body = text.substr(at, end - at);
    metadata.types[parse_number(body.substr(kBegin.size()))] = parse_type(body);
  }
  return metadata;
}

}  // namespace zerotax::trace
