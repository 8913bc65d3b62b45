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

/// A function that a source file defines in an anonymous namespace.
struct PrivateFunction {
    std::string name, parameters;  ///< the types, without names
    bool is_template = false;
};

std::vector<PrivateFunction> private_functions(const std::string& source) {
    static const std::regex function(
        R"(^(?:\[\[\w+\]\] )?(?:inline |constexpr )*[\w:][\w:<>,*& ]*[ *&](\w+)\(([^()]*)\)(?: noexcept)? \{.*)"),
        names_of_parameters(R"( \w+(?=,|$))");
    std::vector<PrivateFunction> functions;
    std::istringstream lines(source);
    bool inside = false;
    std::string before;
    for (std::string line; std::getline(lines, line);) {
        if (line == "namespace {") inside = true;
        if (line == "}  // namespace") inside = false;
        std::smatch found;
        if (inside && std::regex_match(line, found, function))
            functions.push_back(
                {found[1], std::regex_replace(found[2].str(), names_of_parameters, ""), before.starts_with("template <")});
        before = line;
    }
    return functions;
}

/// Returns the constants that a source file defines in functions.
std::vector<std::string> local_constants(const std::string& source) {
    static const std::regex constant(R"(^ +constexpr [\w:<>,* ]* (\w+)\s*(?:=|\{).*)");
    std::vector<std::string> names;
    std::istringstream lines(source);
    std::smatch found;
    for (std::string line; std::getline(lines, line);)
        if (std::regex_match(line, found, constant)) names.push_back(found[1]);
    return names;
}

/// Returns a line for each name that two files of a folder define for themselves: a type, a constant, or a function with the same
/// parameters; for each constant of a function that hides another file's; and for each function template with the name of another
/// file's function, for whose arguments it may be the better overload.
std::vector<std::string> clashes_in(const std::map<std::string, std::string>& sources) {
    std::map<std::string, std::string> file_of;
    std::vector<std::string> clashes;
    for (const auto& [file, source] : sources)
        for (const std::string& name : private_names(source))
            if (const auto [at, is_new] = file_of.emplace(name, file); !is_new && at->second != file)
                clashes.push_back(concat(name, " in ", at->second, " and ", file));
    std::multimap<std::string, std::pair<std::string, PrivateFunction>> functions;
    for (const auto& [file, source] : sources) {
        for (const std::string& name : local_constants(source))
            if (const auto at = file_of.find(name); at != file_of.end() && at->second != file)
                clashes.push_back(concat(name, " in ", at->second, " and ", file));
        for (const PrivateFunction& function : private_functions(source)) {
            const auto [begin, end] = functions.equal_range(function.name);
            for (auto other = begin; other != end; ++other)
                if (const auto& [where, of] = other->second;
                    where != file && (function.is_template || of.is_template || function.parameters == of.parameters))
                    clashes.push_back(concat(function.name, "() in ", where, " and ", file));
            functions.emplace(function.name, std::pair(file, function));
        }
    }
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

TEST_CASE("a function that another file of the folder defines, or that a template of another file may replace, is found") {
    const auto in_namespace = [](const std::string& code) { return "namespace {\n" + code + "\n}  // namespace\n"; };
    const std::string function = in_namespace("void refuse(const fs::path& file, int number) {"),
                      renamed = in_namespace("[[noreturn]] void refuse(const fs::path& where, int code) {"),
                      other = in_namespace("void refuse(int number) {"),
                      any = in_namespace("template <class... Parts>\nvoid refuse(const Parts&... what) {");
    const std::vector<std::string> found{"refuse() in a and b"};
    CHECK(clashes_in({{"a", function}, {"b", renamed}}) == found);
    CHECK(clashes_in({{"a", function}, {"b", any}}) == found);
    CHECK(clashes_in({{"a", function}, {"b", other}}).empty());
    const std::string constant = in_namespace("constexpr int most = 1;"), local = "void f() {\n    constexpr int most = 1;\n}\n";
    CHECK(clashes_in({{"a", constant}, {"b", local}}) == std::vector<std::string>{"most in a and b"});
    CHECK(clashes_in({{"a", constant + local}}).empty());
}

TEST_CASE("files that are compiled as one define no type and no constant twice") {
    std::vector<fs::path> folders{PROJECT_FOLDER "/apps/bertpretrain", PROJECT_FOLDER "/data_tools/bertpretrain_data",
                                  PROJECT_FOLDER "/tests/system"};
    for (const auto& entry : fs::recursive_directory_iterator(PROJECT_FOLDER "/lib"))
        if (entry.is_directory() && entry.path().string().find("/kernels/cpu") == std::string::npos)  // compiled one by one
            folders.push_back(entry.path());
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
