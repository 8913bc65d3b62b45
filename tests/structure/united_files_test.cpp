// CMake compiles a folder's files in groups (BERTPRETRAIN_UNITY), and the sanitizers' build compiles each folder as one file.
// What stands in the anonymous namespaces of two files of a folder then meets.
#include <map>
#include <regex>
#include <sstream>

#include "core/concat.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

/// Returns the types and constants that a source file defines in anonymous namespaces, outside of classes and functions.
std::vector<std::string> private_names(const std::string& source) {
    static const std::regex type(R"(^(?:class|struct|enum class|enum|union) (\w+)[^;]*\{.*)"),
        constant(R"(^constexpr [\w:<>,* ]* (\w+)\s*(?:=|\{).*)");
    std::vector<std::string> names;
    std::istringstream lines(source);
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
        if (line == "namespace {") inside = true;
        if (line == "}  // namespace") inside = false;
        std::smatch found;
        if (inside && (std::regex_match(line, found, type) || std::regex_match(line, found, constant))) names.push_back(found[1]);
    }
    return names;
}

/// Returns a line for each name that two files of a folder define for themselves.
std::vector<std::string> clashes_in(const std::map<std::string, std::string>& sources) {
    std::map<std::string, std::string> file_of;
    std::vector<std::string> clashes;
    for (const auto& [file, source] : sources)
        for (const std::string& name : private_names(source))
            if (const auto [at, is_new] = file_of.emplace(name, file); !is_new && at->second != file)
                clashes.push_back(concat(name, " in ", at->second, " and ", file));
    return clashes;
}

std::map<std::string, std::string> sources_in(const fs::path& folder) {
    std::map<std::string, std::string> sources;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".cpp") sources.emplace(entry.path().string(), read_text(entry.path()));
    return sources;
}

}  // namespace

TEST_CASE("a type or a constant that two files of a folder define for themselves is found") {
    const std::string type = "namespace {\nstruct Numbers {\n};\n}  // namespace\n",
                      constant = "namespace {\nconstexpr double pause = 1;\n}  // namespace\n";
    CHECK(clashes_in({{"a", type}, {"b", type}}) == std::vector<std::string>{"Numbers in a and b"});
    CHECK(clashes_in({{"a", constant}, {"b", constant}}) == std::vector<std::string>{"pause in a and b"});
    CHECK(clashes_in({{"a", type}, {"b", constant}}).empty());
    CHECK(clashes_in({{"a", type}, {"b", "class Numbers;\nstruct Numbers {\n};\n"}}).empty());  // outside of the namespaces
}

TEST_CASE("files that are compiled as one define no type and no constant twice") {
    std::vector<fs::path> folders{PROJECT_FOLDER "/apps/bertpretrain", PROJECT_FOLDER "/data_tools/bertpretrain_data",
                                  PROJECT_FOLDER "/tests/system"};
    for (const auto& entry : fs::recursive_directory_iterator(PROJECT_FOLDER "/lib"))
        if (entry.is_directory()) folders.push_back(entry.path());
    for (const char* tests :
         {"core", "config", "storage", "text", "tokens", "deduplication", "shards", "archive", "telemetry", "reports"})
        folders.push_back(fs::path(PROJECT_FOLDER "/tests") / tests);
    std::size_t sources = 0;
    for (const fs::path& folder : folders) {
        const auto found = sources_in(folder);
        sources += found.size();
        CHECK(clashes_in(found) == std::vector<std::string>{});
    }
    CHECK(sources > 400);
}
