/* Generates the struct of an event, and its description for the trace, from one list of fields. */
#ifndef ZEROTAX_RECORDER_FIELDS_H
#define ZEROTAX_RECORDER_FIELDS_H

// NOLINTBEGIN(modernize-deprecated-headers): C includes this, too
#include <stddef.h>
#include <stdint.h>
// NOLINTEND(modernize-deprecated-headers)

#include "zerotax/recorder_fast.h"

#define ZEROTAX_KIND_UNSIGNED 1
#define ZEROTAX_KIND_SIGNED 2
#define ZEROTAX_KIND_FLOAT 3
#define ZEROTAX_KIND_TEXT 4 /* char; the text in a char array ends at its first 0 */

/* Defines `struct NAME` and its type of event. Each of the 1 to 16 fields is (type, name) or (type, name, count). The
 * type of a field is an integer, float, double, or an array of these; a char array is text. The same definition in
 * several source files is one type. */
#define ZEROTAX_EVENT(NAME, ...)                                                                                  \
  struct NAME {                                                                                                   \
    ZEROTAX_EACH_(ZEROTAX_MEMBER_, NAME, __VA_ARGS__)                                                             \
  };                                                                                                              \
  struct NAME##_zerotax_end {                                                                                     \
    ZEROTAX_EACH_(ZEROTAX_MEMBER_, NAME, __VA_ARGS__)                                                             \
    char zerotax_end_;                                                                                            \
  };                                                                                                              \
  static const struct zerotax_field NAME##_zerotax_fields[] = {ZEROTAX_EACH_(ZEROTAX_FIELD_, NAME, __VA_ARGS__)}; \
  ZEROTAX_TYPE_(NAME, NAME##_zerotax_fields, sizeof NAME##_zerotax_fields / sizeof(struct zerotax_field),         \
                ZEROTAX_BYTES_(NAME))                                                                             \
  ZEROTAX_TYPE_OF_(NAME)

/* Records an event in one line. The arguments after NAME initialize its struct. */
#define ZEROTAX_RECORD(NAME, ...)                                                      \
  do {                                                                                 \
    ZEROTAX_QUIET_                                                                     \
    const struct NAME zerotax_event_ = {__VA_ARGS__};                                  \
    ZEROTAX_LOUD_                                                                      \
    zerotax_record_bytes(&NAME##_zerotax_type, &zerotax_event_, ZEROTAX_BYTES_(NAME)); \
  } while (0)

/* Records an event with the caller's time (zerotax_record_at). */
#define ZEROTAX_RECORD_AT(MONOTONIC_NS, NAME, ...)                                                \
  do {                                                                                            \
    ZEROTAX_QUIET_                                                                                \
    const struct NAME zerotax_event_ = {__VA_ARGS__};                                             \
    ZEROTAX_LOUD_                                                                                 \
    zerotax_record_at(&NAME##_zerotax_type, &zerotax_event_, ZEROTAX_BYTES_(NAME), MONOTONIC_NS); \
  } while (0)

/* Defines an event without fields, of which only the time is recorded. */
#define ZEROTAX_MARK_EVENT(NAME) ZEROTAX_TYPE_(NAME, 0, 0, 0)
#define ZEROTAX_MARK(NAME) zerotax_record_bytes(&NAME##_zerotax_type, 0, 0)

/* Everything below is implementation. */

/* Allows initializers that leave out fields, which are then 0. */
#define ZEROTAX_QUIET_ _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wmissing-field-initializers\"")
#define ZEROTAX_LOUD_ _Pragma("GCC diagnostic pop")

#define ZEROTAX_TYPE_(NAME, FIELDS, COUNT, BYTES) \
  __attribute__((unused)) static struct zerotax_type NAME##_zerotax_type = {0, #NAME, FIELDS, COUNT, BYTES};

/* Returns the size up to the end of the last field, where the record ends. The struct may have padding after it. */
#define ZEROTAX_BYTES_(NAME) offsetof(struct NAME##_zerotax_end, zerotax_end_)

/* Turns a field in parentheses into arguments. The third argument is optional. */
#define ZEROTAX_PICK_(A, B, C, CHOSEN, ...) CHOSEN
#define ZEROTAX_MEMBER_(NAME, FIELD) ZEROTAX_MEMBER_OF_ FIELD
#define ZEROTAX_MEMBER_OF_(...) ZEROTAX_PICK_(__VA_ARGS__, ZEROTAX_MEMBER_ARRAY_, ZEROTAX_MEMBER_ONE_, 0)(__VA_ARGS__)
#define ZEROTAX_MEMBER_ONE_(TYPE, FIELD) TYPE FIELD;
#define ZEROTAX_MEMBER_ARRAY_(TYPE, FIELD, COUNT) TYPE FIELD[COUNT];
#define ZEROTAX_FIELD_(NAME, FIELD) ZEROTAX_FIELD_OF_(NAME, ZEROTAX_STRIP_ FIELD)
#define ZEROTAX_STRIP_(...) __VA_ARGS__
#define ZEROTAX_FIELD_OF_(NAME, ...) ZEROTAX_FIELD_PICK_(NAME, __VA_ARGS__)
#define ZEROTAX_FIELD_PICK_(NAME, ...) \
  ZEROTAX_PICK_(__VA_ARGS__, ZEROTAX_FIELD_ARRAY_, ZEROTAX_FIELD_ONE_, 0)(NAME, __VA_ARGS__)
#define ZEROTAX_FIELD_ONE_(NAME, TYPE, FIELD) \
  {#FIELD, ZEROTAX_KIND_(TYPE), sizeof(TYPE), 1, offsetof(struct NAME, FIELD), 0},
#define ZEROTAX_FIELD_ARRAY_(NAME, TYPE, FIELD, COUNT) \
  {#FIELD, ZEROTAX_KIND_(TYPE), sizeof(TYPE), COUNT, offsetof(struct NAME, FIELD), 1},

#ifdef __cplusplus
#include <type_traits>
namespace zerotax {
template <typename T>
constexpr uint32_t field_kind() {
  static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_pointer_v<T>, "a trace cannot hold this type");
  static_assert(sizeof(T) <= 8, "a trace cannot hold numbers of more than 8 bytes");
  if constexpr (std::is_same_v<T, char>) return ZEROTAX_KIND_TEXT;
  if constexpr (std::is_floating_point_v<T>) return ZEROTAX_KIND_FLOAT;
  if constexpr (std::is_enum_v<T>)
    return std::is_signed_v<std::underlying_type_t<T>> ? ZEROTAX_KIND_SIGNED : ZEROTAX_KIND_UNSIGNED;
  return std::is_signed_v<T> ? ZEROTAX_KIND_SIGNED : ZEROTAX_KIND_UNSIGNED;
}
}  // namespace zerotax
#define ZEROTAX_KIND_(TYPE) ::zerotax::field_kind<TYPE>()
#define ZEROTAX_TYPE_OF_(NAME)                                                                                      \
  __attribute__((unused, no_instrument_function)) static inline struct zerotax_type* zerotax_type_of(const NAME*) { \
    return &NAME##_zerotax_type;                                                                                    \
  }                                                                                                                 \
  __attribute__((unused, no_instrument_function)) constexpr size_t zerotax_bytes_of(const NAME*) {                  \
    return ZEROTAX_BYTES_(NAME);                                                                                    \
  }
#else
#define ZEROTAX_KIND_(TYPE)                  \
  _Generic((TYPE)0, char                     \
           : ZEROTAX_KIND_TEXT, float        \
           : ZEROTAX_KIND_FLOAT, double      \
           : ZEROTAX_KIND_FLOAT, signed char \
           : ZEROTAX_KIND_SIGNED, short      \
           : ZEROTAX_KIND_SIGNED, int        \
           : ZEROTAX_KIND_SIGNED, long       \
           : ZEROTAX_KIND_SIGNED, long long  \
           : ZEROTAX_KIND_SIGNED, default    \
           : ZEROTAX_KIND_UNSIGNED)
#define ZEROTAX_TYPE_OF_(NAME)
#endif

/* Applies M to each of 1 to 16 fields. */
#define ZEROTAX_EACH_(M, NAME, ...)                                                                          \
  ZEROTAX_EACH_PICK_(__VA_ARGS__, ZEROTAX_EACH_16_, ZEROTAX_EACH_15_, ZEROTAX_EACH_14_, ZEROTAX_EACH_13_,    \
                     ZEROTAX_EACH_12_, ZEROTAX_EACH_11_, ZEROTAX_EACH_10_, ZEROTAX_EACH_9_, ZEROTAX_EACH_8_, \
                     ZEROTAX_EACH_7_, ZEROTAX_EACH_6_, ZEROTAX_EACH_5_, ZEROTAX_EACH_4_, ZEROTAX_EACH_3_,    \
                     ZEROTAX_EACH_2_, ZEROTAX_EACH_1_, 0)                                                    \
  (M, NAME, __VA_ARGS__)
#define ZEROTAX_EACH_PICK_(F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12, F13, F14, F15, F16, CHOSEN, ...) CHOSEN
#define ZEROTAX_EACH_1_(M, N, F) M(N, F)
#define ZEROTAX_EACH_2_(M, N, F, ...) M(N, F) ZEROTAX_EACH_1_(M, N, __VA_ARGS__)
#define ZEROTAX_EACH_3_(M, N, F, ...) M(N, F) ZEROTAX_EACH_2_(M, N, __VA_ARGS__)
#define ZEROTAX_EACH_4_(M, N, F, ...) M(N, F) ZEROTAX_EACH_3_(M, N, __VA_ARGS__)
#define ZEROTAX_EACH_5_(M, N, F, ...) M(N, F) ZEROTAX_EACH_4_(M, N, __VA_ARGS__)
#define ZEROTAX_EACH_6_(M, N, F, ...) M(N, F) ZEROTAX_EACH_5_(M, N, __VA_ARGS__)
#define ZEROTAX_EACH_7_(M, N, F, ...) M(N, F) ZEROTAX_EACH_6_(M, N, __VA_ARGS__)
#define ZEROTAX_EACH_8_(M, N, F, ...) M(N, F) ZEROTAX_EACH_7_(M, N, __VA_ARGS__)
#define ZEROTAX_EACH_9_(M, N, F, ...) M(N, F) ZEROTAX_EACH_8_(M, N, __VA_ARGS__)
#define ZEROTAX_EACH_10_(M, N, F, ...) M(N, F) ZEROTAX_EACH_9_(M, N, __VA_ARGS__)
#define ZEROTAX_EACH_11_(M, N, F, ...) M(N, F) ZEROTAX_EACH_10_(M, N, __VA_ARGS__)
#define ZEROTAX_EACH_12_(M, N, F, ...) M(N, F) ZEROTAX_EACH_11_(M, N, __VA_ARGS__)
#define ZEROTAX_EACH_13_(M, N, F, ...) M(N, F) ZEROTAX_EACH_12_(M, N, __VA_ARGS__)
#define ZEROTAX_EACH_14_(M, N, F, ...) M(N, F) ZEROTAX_EACH_13_(M, N, __VA_ARGS__)
#define ZEROTAX_EACH_15_(M, N, F, ...) M(N, F) ZEROTAX_EACH_14_(M, N, __VA_ARGS__)
#define ZEROTAX_EACH_16_(M, N, F, ...) M(N, F) ZEROTAX_EACH_15_(M, N, __VA_ARGS__)

#endif
