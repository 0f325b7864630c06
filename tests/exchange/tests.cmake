set(libraries pugixml::pugixml)
