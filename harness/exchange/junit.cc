#include "exchange/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <sstream>
#include <vector>

#include "base/printable.h"

namespace zerotax::exchange {
namespace {

void set(pugi::xml_node node, const char* name, const std::string& value) {
  node.append_attribute(name).set_value(value.c_str());
}

/// What a test case contains; nothing if it passes.
const char* element_of(const Outcome& outcome) {
  if (outcome.fails) return outcome.kind == OutcomeKind::kFailed ? "error" : "failure";
  return outcome.kind == OutcomeKind::kSkipped ? "skipped" : nullptr;
}

void count(const std::vector<const Outcome*>& outcomes, pugi::xml_node node) {
  const auto number = [&](std::string_view element) {
    return fmt::to_string(std::count_if(outcomes.begin(), outcomes.end(), [&](const Outcome* each) {
      const char* its = element_of(*each);
      return its != nullptr && its == element;
    }));
  };
  set(node, "tests", fmt::to_string(outcomes.size()));
  set(node, "failures", number("failure"));
  set(node, "errors", number("error"));
  if (std::string_view(node.name()) == "testsuite") set(node, "skipped", number("skipped"));
}

void add_property(pugi::xml_node properties, const char* name, const std::string& value) {
  const pugi::xml_node property = properties.append_child("property");
  set(property, "name", name);
  set(property, "value", printable_lines(value));
}

void add_case(const OutcomeList& list, const Outcome& outcome, pugi::xml_node suite) {
  pugi::xml_node test = suite.append_child("testcase");
  set(test, "name", printable(outcome.name));
  set(test, "classname", printable(list.command + "." + outcome.suite));
  const std::string text = printable_lines(outcome.details.empty() ? outcome.headline : outcome.details);
  const char* element = element_of(outcome);
  if (element == nullptr) {
    test.append_child("system-out").text().set(printable_lines(outcome.verdict + ": " + outcome.headline).c_str());
    return;
  }
  pugi::xml_node inner = test.append_child(element);
  set(inner, "message", printable(outcome.verdict + ": " + outcome.headline));
  if (element != std::string_view("skipped")) set(inner, "type", word_of(outcome.kind));
  inner.text().set(text.c_str());
}

}  // namespace

std::string junit_xml(const OutcomeList& list, double seconds, const std::string& started) {
  std::vector<std::string> suites;
  std::vector<const Outcome*> all;
  for (const Outcome& each : list.outcomes) {
    all.push_back(&each);
    if (std::find(suites.begin(), suites.end(), each.suite) == suites.end()) suites.push_back(each.suite);
  }
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  set(declaration, "version", "1.0");
  set(declaration, "encoding", "UTF-8");
  pugi::xml_node root = document.append_child("testsuites");
  set(root, "name", printable(list.command));
  set(root, "time", fmt::format("{:.3f}", seconds));
  count(all, root);
  for (const std::string& name : suites) {
    std::vector<const Outcome*> own;
    std::copy_if(all.begin(), all.end(), std::back_inserter(own),
                 [&](const Outcome* each) { return each->suite == name; });
    pugi::xml_node suite = root.append_child("testsuite");
    set(suite, "name", printable(name));
    count(own, suite);
    // A time zone is no part of the format.
    set(suite, "timestamp", started.ends_with('Z') ? started.substr(0, started.size() - 1) : started);
    pugi::xml_node properties = suite.append_child("properties");
    add_property(properties, "verdict", list.sentence);
    add_property(properties, "subject", list.subject);
    for (const std::string& note : list.notes) add_property(properties, "note", note);
    for (const Outcome* each : own) add_case(list, *each, suite);
  }
  std::ostringstream text;
  document.save(text, "  ", pugi::format_default, pugi::encoding_utf8);
  return text.str();
}

}  // namespace zerotax::exchange
