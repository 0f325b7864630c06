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

/// The outcomes of one test.
using Test = std::vector<const Outcome*>;

/// The element of a test case for an outcome; nullptr if the outcome passes.
const char* element_of(const Outcome& outcome) {
  if (outcome.fails) return outcome.kind == OutcomeKind::kFailed ? "error" : "failure";
  return outcome.kind == OutcomeKind::kSkipped ? "skipped" : nullptr;
}

/// The worst outcome of a test.
const Outcome& worst_of(const Test& test) {
  const auto rank = [](const Outcome& outcome) {
    if (outcome.fails) return outcome.kind == OutcomeKind::kFailed ? 3 : 2;
    return outcome.kind == OutcomeKind::kSkipped ? 1 : 0;
  };
  return **std::max_element(test.begin(), test.end(),
                            [&](const Outcome* one, const Outcome* other) { return rank(*one) < rank(*other); });
}

void count(const std::vector<Test>& tests, pugi::xml_node node) {
  const auto number = [&](std::string_view element) {
    return fmt::to_string(std::count_if(tests.begin(), tests.end(), [&](const Test& each) {
      const char* its = element_of(worst_of(each));
      return its != nullptr && its == element;
    }));
  };
  set(node, "tests", fmt::to_string(tests.size()));
  set(node, "failures", number("failure"));
  set(node, "errors", number("error"));
  if (std::string_view(node.name()) == "testsuite") set(node, "skipped", number("skipped"));
}

void add_property(pugi::xml_node properties, const char* name, const std::string& value) {
  const pugi::xml_node property = properties.append_child("property");
  set(property, "name", name);
  set(property, "value", printable_lines(value));
}

std::string said(const Outcome& outcome) {
  return outcome.verdict + ": " + after_verdict(outcome.headline, outcome.verdict);
}

void add_case(const OutcomeList& list, const Test& outcomes, pugi::xml_node suite) {
  const Outcome& worst = worst_of(outcomes);
  pugi::xml_node test = suite.append_child("testcase");
  set(test, "name", printable(test_of(worst)));
  set(test, "classname", printable(list.command + "." + worst.suite));
  const char* element = element_of(worst);
  std::string text;
  for (const Outcome* each : outcomes) {
    const bool alone = element != nullptr && outcomes.size() == 1;
    text += alone ? (each->details.empty() ? each->headline : each->details)
                  : said(*each) + (outcomes.size() > 1 ? "\n" : "") + (element != nullptr ? each->details : "");
  }
  if (element == nullptr) {
    test.append_child("system-out").text().set(printable_lines(text).c_str());
    return;
  }
  pugi::xml_node inner = test.append_child(element);
  const std::string more = outcomes.size() > 1 ? fmt::format(" (and {} more)", outcomes.size() - 1) : "";
  set(inner, "message", printable(said(worst) + more));
  if (element != std::string_view("skipped")) set(inner, "type", word_of(worst.kind));
  inner.text().set(printable_lines(text).c_str());
}

}  // namespace

std::string junit_xml(const OutcomeList& list, double seconds, const std::string& started) {
  std::vector<std::string> suites;
  std::vector<Test> all;
  for (const Outcome& each : list.outcomes) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const Test& test) {
      return test.front()->suite == each.suite && test_of(*test.front()) == test_of(each);
    });
    same == all.end() ? all.push_back({&each}) : same->push_back(&each);
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
    std::vector<Test> own;
    std::copy_if(all.begin(), all.end(), std::back_inserter(own),
                 [&](const Test& each) { return each.front()->suite == name; });
    pugi::xml_node suite = root.append_child("testsuite");
    set(suite, "name", printable(name));
    count(own, suite);
    // A time zone is no part of the format.
    set(suite, "timestamp", started.ends_with('Z') ? started.substr(0, started.size() - 1) : started);
    pugi::xml_node properties = suite.append_child("properties");
    add_property(properties, "verdict", list.sentence);
    add_property(properties, "subject", list.subject);
    for (const std::string& note : list.notes) add_property(properties, "note", note);
    for (const Test& each : own) add_case(list, each, suite);
  }
  std::ostringstream text;
  document.save(text, "  ", pugi::format_default, pugi::encoding_utf8);
  return text.str();
}

}  // namespace zerotax::exchange
