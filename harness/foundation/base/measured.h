#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace zerotax {

/// Why there is no value: never empty.
struct NotAvailable {
  std::string why;
  bool operator==(const NotAvailable&) const = default;
};

/// A value, or the reason why it could not be measured; never 0 instead of it. In JSON {"na": why} (base/fields.h), in
/// tables "n/a" (base/table.h).
template <typename T>
class Measured {
 public:
  Measured() : value_(NotAvailable{"not measured"}) {}
  Measured(T value) : value_(std::move(value)) {}
  /// Throws std::invalid_argument for an empty reason.
  Measured(NotAvailable none) : value_(std::move(none)) {
    if (why().empty()) throw std::invalid_argument("a metric that is not available needs a reason");
  }
  /// The value, or `why` if there is none.
  Measured(std::optional<T> value, const std::string& why)
      : Measured(value ? Measured(std::move(*value)) : Measured(NotAvailable{why})) {}

  [[nodiscard]] bool has_value() const { return std::holds_alternative<T>(value_); }
  explicit operator bool() const { return has_value(); }
  /// Throws std::bad_variant_access if there is none.
  const T& operator*() const { return std::get<T>(value_); }
  T& operator*() { return std::get<T>(value_); }
  const T* operator->() const { return &std::get<T>(value_); }
  [[nodiscard]] T value_or(T otherwise) const { return has_value() ? **this : std::move(otherwise); }
  /// Empty if there is a value.
  [[nodiscard]] std::string why() const { return has_value() ? "" : std::get<NotAvailable>(value_).why; }

  bool operator==(const Measured&) const = default;

 private:
  std::variant<T, NotAvailable> value_;
};

/// The value if it is known, else n/a and why.
template <typename T>
Measured<T> known_if(bool known, T value, const std::string& why) {
  return known ? Measured<T>(std::move(value)) : NotAvailable{why};
}

}  // namespace zerotax
