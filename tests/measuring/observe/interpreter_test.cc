#include "observe/interpreter.h"

#include <gtest/gtest.h>

namespace zerotax {
namespace {

TEST(Interpreter, IsKnownByTheNameOfItsFile) {
  const auto name = [](const char* path) { return interpreter_of(path).name; };
  EXPECT_EQ(name("/usr/bin/python3.11"), "CPython 3.11");
  EXPECT_EQ(name("/opt/lib/libpython3.12.so.1.0"), "CPython 3.12");
  EXPECT_EQ(name("/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.2"), "Ruby 3.1");
  EXPECT_EQ(name("/usr/bin/ruby3.1"), "Ruby 3.1");
  EXPECT_EQ(name("/usr/bin/node"), "Node.js");
  for (const char* other :
       {"", "/usr/bin/pythonista", "/lib/libc.so.6", "/usr/bin/nodes", "[heap]", "/x/python3.11.txt"})
    EXPECT_EQ(name(other), "") << other;
}

TEST(ScriptNames, SayWhatToDoWhereThereAreNone) {
  ScriptNames names;
  names.add("/usr/bin/python3.11", false, "");
  names.add("/usr/bin/python3.12", false, "");
  names.add("/usr/bin/node", true, "");
  names.add("/lib/libc.so.6", false, "");
  const std::vector<InterpreterNames> list = names.list();
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0].names.why(), "it wrote no perf map: run the script with CPython 3.12 or later and -X perf");
  EXPECT_EQ(list[1].names.why(), "it wrote no perf map: start it with -X perf, or with PYTHONPERFSUPPORT=1");
  EXPECT_EQ(*list[2].names, "perf map");
  const std::string lines = script_names_lines(list);
  EXPECT_NE(lines.find("! CPython 3.11 names no functions of scripts (it wrote no perf map"), std::string::npos);
  EXPECT_EQ(lines.find("Node"), std::string::npos);
  EXPECT_EQ(script_names_lines({}), "");
}

TEST(ScriptNames, OfFaultsWithoutStacksSayHowToTakeThem) {
  ScriptNames names;
  names.add("/usr/bin/python3.12", true, "");
  names.without_stacks("give --stacks");
  EXPECT_EQ(names.list()[0].names.why(),
            "no stacks were taken: give --stacks, and start it with -X perf, or with PYTHONPERFSUPPORT=1");
}

TEST(ScriptNames, ADamagedMapIsALine) {
  ScriptNames names;
  names.add("/usr/bin/node", true, "/tmp/perf-1.map: line 7 is damaged");
  EXPECT_EQ(script_names_lines(names.list()),
            "! Names of Node.js's functions are missing or wrong: /tmp/perf-1.map: line 7\n  is damaged.\n");
}

}  // namespace
}  // namespace zerotax
