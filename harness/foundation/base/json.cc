#include "base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <vector>

#include "base/printable.h"
#include "base/size.h"

namespace zerotax {
namespace {

/// Returns the document with escapes in place of bytes that are not UTF-8.
Json with_valid_text(const Json& json) {
  if (json.is_string()) return valid_utf8(json.get_ref<const std::string&>());
  Json valid = json;
  if (json.is_object()) {
    valid = Json::object();
    for (const auto& [key, value] : json.items()) valid[valid_utf8(key)] = with_valid_text(value);
  } else if (json.is_array()) {
    for (Json& each : valid) each = with_valid_text(each);
  }
  return valid;
}

std::string dumped(const Json& json, int indent) {
  try {
    return printable_json(json.dump(indent));
  } catch (const Json::type_error&) {
    return printable_json(with_valid_text(json).dump(indent));
  }
}

}  // namespace

std::string json_text(const Json& json) { return dumped(json, 1) + "\n"; }

std::string json_line(const Json& json) { return dumped(json, -1); }

Json not_available(const std::string& reason) {
  if (reason.empty()) throw std::invalid_argument("a metric that is not available needs a reason");
  return Json{{"na", reason}};
}

std::string text_field(const Json& object, const std::string& key, const std::string& otherwise) {
  if (!object.is_object() || !object.contains(key) || !object.at(key).is_string()) return otherwise;
  return object.at(key).get<std::string>();
}

bool is_not_available(const Json& figure) { return figure.is_object() && figure.contains("na"); }

namespace {

constexpr int kDeepest = 64;
constexpr std::size_t kLongestText = 16 * kKiB;

std::string shortened(const std::string& text) {
  constexpr std::size_t kShown = 40;
  return text.size() <= kShown ? text : text.substr(0, kShown) + "...";
}

/// Checks each value during parsing, so that a million opening brackets are refused before they use memory.
class Watch {
 public:
  bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    if (depth > kDeepest) throw JsonTextError(fmt::format("is damaged: it is nested deeper than {} levels", kDeepest));
    const auto level = static_cast<std::size_t>(depth);
    if (event == Event::object_start) {
      keys_.resize(std::max(keys_.size(), level + 2));
      keys_[level + 1].clear();
    } else if (event == Event::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      check_length(key);
      if (!keys_[level].insert(key).second) {
        throw JsonTextError(fmt::format("is damaged: an object has the key '{}' twice", shortened(key)));
      }
    } else if (event == Event::value && parsed.is_string()) {
      check_length(parsed.get_ref<const std::string&>());
    }
    return true;
  }

 private:
  static void check_length(const std::string& text) {
    if (text.size() <= kLongestText) return;
    throw JsonTextError(fmt::format("is damaged: the text '{}' is longer than 16 KiB", shortened(text)));
  }

  std::vector<std::set<std::string>> keys_;
};

/// Returns the parser's error message without the exception's class name and without the quoted text at the error.
std::string reason_of(std::string text) {
  if (const auto at = text.find("] "); at != std::string::npos) text = text.substr(at + 2);
  if (const auto at = text.find("; last read"); at != std::string::npos) text = text.substr(0, at);
  for (const std::string_view words : {"parse error at ", "syntax error while parsing ", "value - ", "object key - "}) {
    if (const auto at = text.find(words); at != std::string::npos) text.erase(at, words.size());
  }
  return text;
}

}  // namespace

Json parse_strict_json(std::string_view text) {
  if (text.empty()) throw JsonTextError("is not JSON (it is empty)");
  if (text.starts_with("\xef\xbb\xbf")) throw JsonTextError("is not JSON (it begins with a byte order mark)");
  if (const auto at = text.find('\0'); at != std::string_view::npos) {
    throw JsonTextError(fmt::format("is not JSON (byte {} is NUL)", at + 1));
  }
  try {
    Watch watch;
    return Json::parse(text.begin(), text.end(), [&watch](int depth, Json::parse_event_t event, Json& parsed) {
      return watch(depth, event, parsed);
    });
  } catch (const Json::exception& failure) {
    throw JsonTextError(fmt::format("is not JSON ({})", reason_of(failure.what())));
  }
}

}  // namespace zerotax
