#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "bisect/builder.h"
#include "bisect/document.h"

namespace zerotax::bisect {
namespace {

TEST(RecipeTest, FoldersAreQuotedInCommandsAndNotInPaths) {
  const RecipePlaces places{"/tmp/it's here", "/tmp/b", 3};
  EXPECT_EQ(command_at("make -C {source} -j {jobs} O={build}", places), "make -C '/tmp/it'\\''s here' -j 3 O='/tmp/b'");
  EXPECT_EQ(path_at("{build}/lib.so", places), "/tmp/b/lib.so");
  EXPECT_EQ(path_at("out/lib*.so", places), "/tmp/it's here/out/lib*.so");
}

TEST(RecipeTest, AListOfWordsIsACommandWhoseWordsStayWords) {
  const auto recipe =
      Json::parse(
          R"({"allocator": "x", "build": [["echo", "a b", "$HOME", "-DX={build}", ""], "echo $HOME"], "library": ["x.so"]})")
          .get<Recipe>();
  ASSERT_EQ(recipe.commands.size(), 2U);
  EXPECT_EQ(recipe.commands[0], "echo 'a b' '$HOME' -DX={build} ''");
  EXPECT_EQ(recipe.commands[1], "echo $HOME");
}

TEST(RecipeTest, WhatIsBuiltInIsWholeAndIsCalledByItsFolder) {
  ASSERT_FALSE(recipe_names().empty());
  for (const std::string& name : recipe_names()) {
    const Recipe recipe = recipe_of(name);
    EXPECT_EQ(recipe.name, name);
    EXPECT_FALSE(recipe.commands.empty()) << name;
    EXPECT_FALSE(recipe.libraries.empty()) << name;
    EXPECT_FALSE(recipe.tools.empty()) << name;
    EXPECT_FALSE(recipe.tags.empty()) << name;
  }
}

TEST(RecipeTest, AJobReadsItBackAsItWas) {
  const Recipe recipe = recipe_of_options("mine", "make 'a b' {jobs}", "{build}/x.so");
  EXPECT_EQ(Json(Json(recipe).get<Recipe>()), Json(recipe));
}

TEST(RecipeTest, AMissingToolIsNamedWithItsPackage) {
  Recipe recipe = recipe_of_options("mine", "true", "x.so");
  recipe.tools = {{"sh", "dash"}, {"no-such-program-here", "some-package"}};
  try {
    check_tools(recipe);
    FAIL() << "it is not installed";
  } catch (const MachineError& problem) {
    EXPECT_NE(std::string(problem.what()).find("no-such-program-here"), std::string::npos);
    EXPECT_EQ(problem.remedy(), "apt-get install some-package");
  }
}

TEST(Builder, MakesTheFolderOfItsCache) {
  const TemporaryFolder folder{"builder-test"};
  const std::string project = folder.file("project");
  const std::string commit_it = " -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m one";
  ASSERT_EQ(std::system(("git init -q " + project + " && git -C " + project + commit_it).c_str()), 0);
  const Git git(project);
  const Commit commit = Repository(git).commit("HEAD", "--repo");
  Workspace workspace(&git);
  const Cache cache(folder.file("out/cache"));
  const Recipe recipe = recipe_of_options("mine", "false", "{build}/x.so");
  const Builder builder{cache, recipe};
  EXPECT_EQ(builder.build(workspace, commit, [] {}).state, Build::State::kFailed);
  EXPECT_TRUE(std::filesystem::exists(cache.build_folder(commit, recipe) + "/build.log"));
}

}  // namespace
}  // namespace zerotax::bisect
