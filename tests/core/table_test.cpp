#include "core/output/table.h"

#include <algorithm>
#include <sstream>

#include "support/catch.h"

using namespace bertpretrain;

namespace {

std::size_t widest_line(const std::string& text) {
    std::size_t widest = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
    return widest;
}

}  // namespace

TEST_CASE("a table is as wide as its cells where there is room") {
    Table table({"name", "count"});
    table.add({"a", "1,000"});
    table.add({"bcdefg", "-2"});
    CHECK(table.text(80) == "name    count\n------  -----\na       1,000\nbcdefg     -2\n");
}

TEST_CASE("cells that are too wide for the terminal continue on the next line, divided between words") {
    Table table({"setting", "reason"});
    table.add({"batch", "as many as fit into the memory of the device"});
    CHECK(table.text(30) ==
          "setting  reason\n-------  ---------------------\nbatch    as many as fit into\n         the memory of the\n         "
          "device\n");
}

TEST_CASE("a table of many columns becomes several, which all begin with the first column") {
    Table table({"run", "one", "two", "three"});
    table.add({"first", "1.2345678", "2.3456789", "3.4567890"});
    CHECK(table.text(28) ==
          "run    one        two\n-----  ---------  ---------\nfirst  1.2345678  2.3456789\n\n"
          "run    three\n-----  ---------\nfirst  3.4567890\n");
}

TEST_CASE("no line of a table is wider than asked, and no character is divided or lost") {
    const std::string word = "na\u00efve/caf\u00e9,", text = word + word + " " + word + word + word;
    for (const std::size_t columns : {std::size_t{38}, std::size_t{41}, std::size_t{60}, std::size_t{80}, std::size_t{200}}) {
        Table table({"key", "value", "other", "reason"});
        table.add({"a.setting.with.a.long.name", text, "12", text});
        table.add({"short"});
        const std::string shown = table.text(columns);
        CAPTURE(columns, shown);
        CHECK(widest_line(shown) <= columns);
        const auto letters = [](const std::string& of) { return std::count(of.begin(), of.end(), '\xc3'); };
        CHECK(letters(shown) == 2 * letters(text));
        CHECK(shown.find("\\x") == std::string::npos);
    }
}
