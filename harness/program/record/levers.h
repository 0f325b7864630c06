#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "judge/projects.h"

namespace zerotax::record {

struct PresentAllocator;

enum class LeverUnit { kBytes, kMs, kCount, kWord };
ENUM_WORDS(LeverUnit, "bytes", "ms", "count", "word")

struct Lever {
  static constexpr Limit kTrue = with(R"({"const": true})");

  RESULT("lever", "A setting of which zerotax advise --frontier tries several values.");
  FIELD(std::string, name, "Name of the lever in tables.", with(R"({"maxLength": 32})"));
  FIELD(Settings, env, "Environment variables of the setting; {} stands for the value.");
  FIELD(LeverUnit, unit, "Unit of the values.");
  FIELD(std::optional<std::vector<std::string>>, values,
        "The values, from less to more. Absent if each value doubles the previous value.", least_items(2));
  FIELD(std::optional<std::uint64_t>, from, "The smallest value, if each value is twice the one before.");
  FIELD(std::optional<std::uint64_t>, to, "The largest value, if each value is twice the one before.");
  FIELD(std::optional<std::string>, today,
        "The allocator's default, which is one of the values. Absent if the default adapts to the program, depends on "
        "the "
        "version, or is not the same as setting the value.");
  FIELD(std::string, words, "The effect of a value; {} stands for the value.");
  FIELD(std::string, more, "The gain and the price of more.");
  FIELD(std::optional<std::vector<std::string>>, parts,
        "Names of the levers that this lever moves together. zerotax tells if a part alone harms.", least_items(2));
  FIELD(std::optional<bool>, threads, "True if the lever matters only in programs with several threads.", kTrue);
  FIELD(std::optional<bool>, huge_pages, "True if the lever needs transparent huge pages.", kTrue);
  FIELD(std::optional<std::string>, since, "First version of the allocator that has the lever.", kVersionNumber);
  FIELD(std::optional<std::string>, before, "First version of the allocator that no longer has the lever.",
        kVersionNumber);
};

/// Returns the levers of an allocator, in the order of the file.
std::vector<Lever> known_levers(const std::string& allocator);

/// Returns the values of a lever, from less to more.
std::vector<std::string> values_of(const Lever& lever);

/// Returns the variables that set a lever to a value.
std::map<std::string, std::string> setting_of(const Lever& lever, const std::string& value);

/// Formats a value for people, such as "1 MiB" or "100 ms".
std::string value_text(const Lever& lever, const std::string& value);

/// Returns the effect of a value in words.
std::string words_of(const Lever& lever, const std::string& value);

}  // namespace zerotax::record
