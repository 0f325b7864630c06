set(libraries pugixml::pugixml ZLIB::ZLIB)
