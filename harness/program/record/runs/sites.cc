#include <fmt/format.h>

#include <algorithm>

#include "base/names.h"
#include "record/runs/run.h"

namespace zerotax::record::runs {
namespace {

bool starts_with_any(const std::string& text, std::initializer_list<const char*> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](const char* each) { return text.starts_with(each); });
}

/// Whether a function is the program's own. Functions of the C and C++ libraries are not, even as template instances in
/// the program's file.
bool is_own(const NamedFrame& frame) {
  if (frame.is_script()) return true;
  if (!frame.module || !frame.function) return false;
  if (starts_with_any(file_name(*frame.module),
                      {"libc.so", "libc-", "libm.so", "ld-linux", "libpthread", "libstdc++", "libgcc_s", "libc++"})) {
    return false;
  }
  const std::string& function = *frame.function;
  // The name of a template instance may begin with its result type, as in "void std::…".
  const auto in_std = function.find(" std::");
  const bool is_std = in_std != std::string::npos && in_std < function.find('(');
  return function != "_start" && !is_std &&
         !starts_with_any(function, {"std::", "__gnu_cxx::", "operator new", "operator delete"});
}

/// Shortens "(anonymous namespace)::Decoder::reset(int) const" to "Decoder::reset".
std::string short_name(std::string function) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (auto at = function.find(kAnonymous); at != std::string::npos; at = function.find(kAnonymous)) {
    function.erase(at, kAnonymous.size());
  }
  const auto end = function.rfind(')');
  if (end == std::string::npos || end + sizeof " const" < function.size()) return function;
  int open = 0;
  for (std::size_t at = end + 1; at-- > 1;) {
    open += function[at] == ')' ? 1 : function[at] == '(' ? -1 : 0;
    if (open == 0) return function.substr(0, at);
  }
  return function;
}

Place place_of(const NamedFrame& frame) {
  Place place{short_name(frame.function.value_or(frame.module ? file_name(*frame.module) : "?")), "", std::nullopt};
  const bool in_header = frame.file && starts_with_any(*frame.file, {"/usr/include/", "/usr/lib/"});
  if (!frame.file || in_header) return place;
  place.file = file_name(*frame.file);
  if (frame.line) place.line = *frame.line;
  return place;
}

}  // namespace

std::string words_of(const Place& place) {
  if (place.file.empty()) return place.function;
  return place.line ? fmt::format("{} ({}:{})", place.function, place.file, *place.line)
                    : fmt::format("{} ({})", place.function, place.file);
}

std::pair<SiteKey, Place> key_of(const RecordedSite& site) {
  SiteKey key{site.kind, {}};
  std::vector<const NamedFrame*> own;
  const bool scripted =
      std::any_of(site.frames.begin(), site.frames.end(), [](const auto& frame) { return frame.is_script(); });
  for (const NamedFrame& frame : site.frames) {
    if (scripted ? frame.is_script() : is_own(frame)) own.push_back(&frame);
  }
  // If no function of a stack is the program's own, all of its functions count.
  if (own.empty()) {
    for (const NamedFrame& frame : site.frames) own.push_back(&frame);
  }
  for (const NamedFrame* frame : own) {
    Place place = place_of(*frame);
    place.line.reset();
    std::string words = words_of(place);
    // A recursive function counts once, whatever the depth of the recursion.
    if (key.stack.empty() || key.stack.back() != words) key.stack.push_back(std::move(words));
  }
  return {key, own.empty() ? Place{"?", "", std::nullopt} : place_of(*own.front())};
}

}  // namespace zerotax::record::runs
