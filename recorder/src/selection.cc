#include "selection.h"

#include <cstring>

namespace zerotax::recorder {
namespace {

/// A part of a list. The part is not copied, because this code runs in signal handlers.
struct Pattern {
  const char* begin;
  const char* end;
  bool out;
};

/// Takes the next pattern, and advances `list` past it. Returns false at the end.
bool next_pattern(const char*& list, Pattern& pattern) {
  if (*list == '\0') return false;
  pattern.out = *list == '!';
  pattern.begin = pattern.out ? list + 1 : list;
  pattern.end = pattern.begin + std::strcspn(pattern.begin, ",");
  list = *pattern.end == ',' ? pattern.end + 1 : pattern.end;
  return true;
}

/// Matches * and ? in the usual way: on a mismatch, the latest * takes one more character.
bool matches(const Pattern& pattern, const char* name) {
  const char* at = pattern.begin;
  const char* star = nullptr;
  const char* resume = nullptr;
  while (*name != '\0') {
    if (at != pattern.end && *at == '*') {
      star = at++;
      resume = name;
    } else if (at != pattern.end && (*at == '?' || *at == *name)) {
      ++at;
      ++name;
    } else if (star != nullptr) {
      at = star + 1;
      name = ++resume;
    } else {
      return false;
    }
  }
  while (at != pattern.end && *at == '*') ++at;
  return at == pattern.end;
}

}  // namespace

bool is_name_list(const char* list) {
  if (*list == '\0') return true;
  if (list[std::strlen(list) - 1] == ',') return false;
  Pattern pattern{};
  while (next_pattern(list, pattern)) {
    if (pattern.begin == pattern.end) return false;
    for (const char* c = pattern.begin; c != pattern.end; ++c) {
      const bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
      if (!letter && *c != '_' && *c != '*' && *c != '?') return false;
    }
  }
  return true;
}

bool is_wanted(const char* list, const char* name) {
  bool any = false;
  bool found = false;
  Pattern pattern{};
  while (next_pattern(list, pattern)) {
    if (pattern.out) {
      if (matches(pattern, name)) return false;
      continue;
    }
    any = true;
    found = found || matches(pattern, name);
  }
  return found || !any;
}

bool is_listed(const char* list, const char* name) {
  Pattern pattern{};
  while (next_pattern(list, pattern)) {
    if (!pattern.out && matches(pattern, name)) return true;
  }
  return false;
}

}  // namespace zerotax::recorder
