#include "trace/fields.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "base/printable.h"

namespace zerotax::trace {
namespace {

template <typename T>
T load(const char* bytes) {
  T value{};
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

Json number(const CtfField& field, const char* bytes) {
  if (field.kind == CtfField::Kind::kFloat) {
    const double value = field.bytes == 4 ? static_cast<double>(load<float>(bytes)) : load<double>(bytes);
    return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value));  // JSON has no infinities and no NaN
  }
  const bool is_signed = field.kind == CtfField::Kind::kSigned;
  switch (field.bytes) {
    case 1:
      return is_signed ? Json(load<std::int8_t>(bytes)) : Json(load<std::uint8_t>(bytes));
    case 2:
      return is_signed ? Json(load<std::int16_t>(bytes)) : Json(load<std::uint16_t>(bytes));
    case 4:
      return is_signed ? Json(load<std::int32_t>(bytes)) : Json(load<std::uint32_t>(bytes));
    default:
      return is_signed ? Json(load<std::int64_t>(bytes)) : Json(load<std::uint64_t>(bytes));
  }
}

}  // namespace

Json ctf_field_value(const CtfField& field, const char* bytes) {
  if (field.kind == CtfField::Kind::kText) {
    return std::string(bytes, ::strnlen(bytes, field.count));
  }
  if (!field.array) return number(field, bytes);
  Json values = Json::array();
  for (std::uint32_t i = 0; i < field.count; ++i) values.push_back(number(field, bytes + std::size_t{i} * field.bytes));
  return values;
}

Json ctf_fields(const CtfEvent& event) {
  Json fields = Json::object();
  for (const CtfField& field : event.type->fields) {
    fields[field.name] = ctf_field_value(field, event.bytes + field.offset);
  }
  return fields;
}

std::string ctf_line(const std::string& process, const CtfEvent& event, std::int64_t begin_ns) {
  std::string line = fmt::format("{:14.9f} {}:{} {}", static_cast<double>(event.monotonic_ns - begin_ns) * 1e-9,
                                 printable(process), event.tid, event.type->name);
  for (const CtfField& field : event.type->fields) {
    line += fmt::format(" {}={}", field.name, json_line(ctf_field_value(field, event.bytes + field.offset)));
  }
  return line;
}

std::string time_text(const Cell& ns) { return ns.text(Unit::kNs, "n/a"); }

}  // namespace zerotax::trace
