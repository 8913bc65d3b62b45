#pragma once
// What a test program tells ctest about its cases. Needs Catch2's runner (CATCH_CONFIG_RUNNER).

#include <iostream>
#include <string>
#include <string_view>

#include "support/catch.h"

namespace bertpretrain::testing {

/// Returns a case's name as Catch2's command line takes it: these characters would otherwise mean something.
inline std::string escaped(std::string_view name) {
    std::string text = name.starts_with('-') || name.starts_with('~') ? "\\" : "";  // no option, no exclusion
    for (const char c : name) {
        if (std::string_view("\\,[]\"").find(c) != std::string_view::npos) text += '\\';
        text += c;
    }
    return text;
}

/// Prints a script for ctest with an entry "FOLDER: NAME" for each case that does not run with its whole folder. The entry runs
/// the case alone in `program`, with `properties`, a label and a time limit. The label is `long` for the tag [.long] (two hours),
/// else `system` for the tag [system], else `label`, the folder's own (five minutes: several times what a busy machine needs).
/// Cases of label `unit` run with their folder, and other hidden cases never.
inline void print_ctest_cases(const std::string& program, const std::string& folder, const std::string& label,
                              const std::string& properties) {
    for (const auto& test : Catch::getRegistryHub().getTestCaseRegistry().getAllTests()) {
        const Catch::TestCaseInfo& info = test.getTestCaseInfo();
        const auto has = [&](const char* tag) { return info.tagsAsString().find(tag) != std::string::npos; };
        const std::string own = has("[long]") || has("[.long]") ? "long" : has("[system]") ? "system" : label;
        if (own == "unit" || (info.isHidden() && own != "long")) continue;
        // Bracket arguments: names hold commas, semicolons and quotes.
        const std::string name = "[==[" + folder + ": " + info.name + "]==]";
        std::cout << "add_test(" << name << " [==[" << program << "]==] [==[" << escaped(info.name) << "]==])\n"
                  << "set_tests_properties(" << name << " PROPERTIES LABELS " << own << " TIMEOUT "
                  << (own == "long" ? 7200 : 300) << ' ' << properties << ")\n";
    }
}

}  // namespace bertpretrain::testing
