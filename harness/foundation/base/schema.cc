#include "base/schema.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace zerotax {
namespace {

using namespace nlohmann::literals;
using Plain = nlohmann::json;  // the type of JSON that the validator reads
using Adapter = valijson::adapters::NlohmannJsonAdapter;
using Results = valijson::ValidationResults;

const std::map<std::string, std::string>& embedded_schemas() {
  static const std::map<std::string, std::string> all{
#include "embedded_schemas.inc"
  };
  return all;
}

/// Allows keys of later versions. A schema for the values of unknown keys is kept.
void allow_unknown_keys(Plain& schema) {
  if (schema.is_object()) {
    const auto found = schema.find("additionalProperties");
    if (found != schema.end() && *found == false) schema.erase(found);
  }
  for (Plain& each : schema) {
    if (each.is_structured()) allow_unknown_keys(each);
  }
}

/// Returns the name of the file with the schema of a document, usually the document's name.
const std::string& file_of(const std::string& name) {
  static const std::map<std::string, std::string> others{{"program_baseline", "baseline"}};
  const auto found = others.find(name);
  return found == others.end() ? name : found->second;
}

/// Keeps only the alternative of the schema that describes documents of this name.
void choose_alternative(const std::string& name, Plain& document) {
  const auto alternatives = document.find("oneOf");
  if (alternatives == document.end()) return;
  for (const Plain& each : *alternatives) {
    if (!each.contains("$ref")) continue;  // this alternative requires a key, and is no document
    const Plain alternative = document.at(Plain::json_pointer(each.at("$ref").get<std::string>().substr(1)));
    if (alternative.at("/properties/schema/enum/0"_json_pointer) != "zerotax." + name + "/1") continue;
    document.erase("oneOf");
    document.update(alternative);
    return;
  }
}

Plain schema_document(const std::string& name) {
  const auto found = embedded_schemas().find(file_of(name));
  if (found == embedded_schemas().end()) throw std::logic_error("no schema " + name);
  Plain document = Plain::parse(found->second);
  choose_alternative(name, document);
  document.erase("$id");  // "$id" would make the references relative to a URI that does not exist.
  allow_unknown_keys(document);
  return document;
}

/// Returns the name in a reference to a schema: "point" for ".../point.schema.json".
std::string name_in(const std::string& uri) {
  const std::string file = uri.substr(uri.rfind('/') + 1);
  return file.substr(0, file.find('.'));
}

const valijson::Schema& schema_named(const std::string& name) {
  static std::map<std::string, std::unique_ptr<valijson::Schema>> parsed;
  std::unique_ptr<valijson::Schema>& schema = parsed[name];
  if (schema) return *schema;
  schema = std::make_unique<valijson::Schema>();
  const Plain document = schema_document(name);
  valijson::SchemaParser parser;
  parser.populateSchema(
      Adapter(document), *schema, [](const std::string& uri) { return new Plain(schema_document(name_in(uri))); },
      [](const Plain* fetched) { delete fetched; });
  return *schema;
}

/// Returns the position of an error: "/points/3" for the context "<root>", "[points]", "[3]".
std::string place_of(const Results::Error& error) {
  std::string place;
  for (std::size_t i = 1; i < error.context.size(); ++i) {
    const std::string& part = error.context[i];
    place += "/" + part.substr(1, part.size() - 2);
  }
  return place;
}

std::string shortened(const std::string& text) {
  constexpr std::size_t kShown = 60;
  return text.size() <= kShown ? text : text.substr(0, kShown) + "...";
}

/// Returns the text of a limit without decimals of 0: "or equal to 0" for "or equal to 0.000000".
std::string without_zeros(std::string number) {
  if (const auto at = number.find(".000000"); at != std::string::npos) number.erase(at);
  return number;
}

std::string value_at(const Json& document, const Results::Error& error) {
  const Json* value = &document;
  for (std::size_t i = 1; i < error.context.size() && value != nullptr; ++i) {
    const std::string token = error.context[i].substr(1, error.context[i].size() - 2);
    if (value->is_array()) {
      const std::size_t index = std::strtoul(token.c_str(), nullptr, 10);
      value = index < value->size() ? &(*value)[index] : nullptr;
    } else {
      const auto found = value->find(token);
      value = found != value->end() ? &*found : nullptr;
    }
  }
  if (value == nullptr || value->is_structured()) return "it";
  return shortened(json_line(*value));
}

/// Returns our own words for the validator's message, or the message unchanged if we have none.
std::string words_for(const Json& document, const Results::Error& error) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kWords{{
      {"Value type not permitted", "has the wrong type"},
      {"Failed to match against any enum", "is not one of the allowed words"},
      {"Failed to match expected value", "is not the required value"},
      {"Failed to match regex", "does not have the required form"},
      {"String should be no fewer than", "is too short"},
      {"Array should contain no fewer", "has too few elements"},
      {"Array should contain no more", "has too many elements"},
      {"Elements at indexes", "has duplicate elements"},
      {"Failed to validate against", "does not match the rest"},
  }};
  const std::string_view said = error.description;
  if (said.starts_with("Missing required property")) {
    const auto quote = said.find('\'');
    return fmt::format("lacks {}",
                       quote == std::string_view::npos ? "a key" : said.substr(quote, said.rfind('\'') + 1 - quote));
  }
  constexpr std::string_view kExpected = "Expected number ";
  if (said.starts_with(kExpected)) {
    return fmt::format("{} is out of range (a number {})", value_at(document, error),
                       without_zeros(std::string(said.substr(kExpected.size()))));
  }
  for (const auto& [begin, words] : kWords) {
    if (said.starts_with(begin)) return fmt::format("{} {}", value_at(document, error), words);
  }
  return std::string(said);
}

/// Counts the values in a document, at all depths. Counting stops once it exceeds `most`.
std::size_t values_in(const Json& document, std::size_t most) {
  std::size_t count = 1;
  if (!document.is_structured()) return count;
  for (const Json& each : document) {
    if (count > most) break;
    count += values_in(each, most);
  }
  return count;
}

}  // namespace

std::string schema_problem(const Json& document, const std::string& name) {
  const Plain plain = document;
  static valijson::Validator validator;  // caches compiled regular expressions
  if (validator.validate(schema_named(name), Adapter(plain), nullptr)) return "";
  // The validator stores several problems per value. For a document of five million values, it used 20 GB.
  constexpr std::size_t kMostExplained = 200'000;
  if (values_in(document, kMostExplained) > kMostExplained) return "document: it does not follow its schema";
  Results results;
  if (validator.validate(schema_named(name), Adapter(plain), &results)) return "";
  // The validator reports causes before their consequences. Among the alternatives for a value, the deepest match was
  // most likely meant.
  Results::Error deepest;
  for (Results::Error error; results.popError(error);) {
    if (error.context.size() > deepest.context.size()) deepest = error;
  }
  const std::string place = place_of(deepest);
  return fmt::format("{}: {}", place.empty() ? "document" : place, words_for(document, deepest));
}

}  // namespace zerotax
