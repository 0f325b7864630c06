#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace zerotax {

/// The reason for a missing value; never empty.
struct NotAvailable {
  std::string why;
  bool operator==(const NotAvailable&) const = default;
};

/// A value, or the reason why it could not be measured. A missing value is never 0: JSON has {"na": why}
/// (base/fields.h), and tables have "n/a" (base/table.h).
template <typename T>
class Measured {
 public:
  Measured() : value_(NotAvailable{"not measured"}) {}
  Measured(T value) : value_(std::move(value)) {}
  /// Throws std::invalid_argument if the reason is empty.
  Measured(NotAvailable none) : value_(std::move(none)) {
    if (why().empty()) throw std::invalid_argument("a metric that is not available needs a reason");
  }
  /// Holds the value, or the reason `why` if there is no value.
  Measured(std::optional<T> value, const std::string& why)
      : Measured(value ? Measured(std::move(*value)) : Measured(NotAvailable{why})) {}

  [[nodiscard]] bool has_value() const { return std::holds_alternative<T>(value_); }
  explicit operator bool() const { return has_value(); }
  /// Throws std::bad_variant_access if there is no value.
  const T& operator*() const { return std::get<T>(value_); }
  T& operator*() { return std::get<T>(value_); }
  const T* operator->() const { return &std::get<T>(value_); }
  [[nodiscard]] T value_or(T otherwise) const { return has_value() ? **this : std::move(otherwise); }
  /// Returns the reason for a missing value; empty if there is a value.
  [[nodiscard]] std::string why() const { return has_value() ? "" : std::get<NotAvailable>(value_).why; }

  bool operator==(const Measured&) const = default;

 private:
  std::variant<T, NotAvailable> value_;
};

/// Returns the value if it is known, else n/a with the reason `why`.
template <typename T>
Measured<T> known_if(bool known, T value, const std::string& why) {
  return known ? Measured<T>(std::move(value)) : NotAvailable{why};
}

}  // namespace zerotax
