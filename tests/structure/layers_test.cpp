// Rules about the tree itself.
#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/files.h"

namespace fs = std::filesystem;

namespace {

/// lib/'s folders from the bottom to the top: one may include only those before it.
const std::vector<std::string> folder_order{"core",   "config",    "storage",   "text",       "tokens",     "deduplication",
                                            "shards", "archive",   "telemetry", "reports",    "kernels",    "batches",
                                            "model",  "optimizer", "parallel",  "checkpoint", "operations", "inference",
                                            "plan",   "train",     "preflight"};

/// For each sub-folder, and each folder that has some: the other parts of the same folder that it may include.
const std::map<std::string, std::set<std::string>> parts_below{
    {"core", {}},
    {"core/files", {"core"}},
    {"core/output", {"core", "core/files", "core/threads"}},
    {"core/threads", {"core", "core/files"}},
    {"text", {}},
    {"text/content", {"text"}},
    {"text/sentences", {"text"}},
    {"text/wiki", {"text", "text/content", "text/sentences"}},
    {"text/parquet", {"text", "text/formats"}},
    {"text/formats", {"text", "text/content", "text/sentences", "text/wiki"}},
    {"text/reader", {"text", "text/content", "text/formats", "text/wiki"}},
    {"tokens", {}},
    {"tokens/unicode", {"tokens"}},
    {"tokens/definition", {"tokens", "tokens/unicode"}},
    {"tokens/vocabulary", {"tokens", "tokens/unicode", "tokens/definition"}},
    {"tokens/models", {"tokens", "tokens/unicode", "tokens/definition", "tokens/vocabulary"}},
    {"tokens/training", {"tokens", "tokens/definition", "tokens/vocabulary", "tokens/models"}},
    {"shards", {}},
    {"shards/build", {"shards"}},
    {"shards/check", {"shards"}},
    {"train/records", {}},
    {"train/start", {}},
    {"train/audit", {}},
    {"train/save", {"train/audit", "train/records"}},
    {"train/stop", {"train/save"}},
    {"train/step", {"train/stop"}},
    {"train/audit/cross_check", {"train/audit", "train/step", "train/stop"}},
    {"train",
     {"train/records", "train/start", "train/save", "train/stop", "train/step", "train/audit", "train/audit/cross_check"}},
    {"train/audit/replay", {"train", "train/start", "train/stop", "train/audit"}},
    {"model", {"model/bert", "model/modern"}},  // the door alone; the test below
    {"model/bert", {"model"}},
    {"model/modern", {"model"}},
    {"kernels/interface", {}},
    {"kernels/reference", {"kernels/interface"}},
    {"kernels/cpu", {"kernels/interface"}},
    {"kernels/cpu/amx", {"kernels/cpu"}},
    {"kernels/cpu/attention", {"kernels/interface", "kernels/cpu", "kernels/cpu/amx"}},
    {"kernels/cuda", {"kernels/interface"}},
    {"kernels/cuda/module", {"kernels/interface", "kernels/cuda"}},
    {"kernels", {"kernels/interface", "kernels/cpu", "kernels/cpu/amx"}},
    {"parallel", {}},
    {"parallel/nccl", {"parallel"}},
};

std::vector<fs::path> source_files(const std::string& folder) {
    static const std::array endings{".h", ".cpp", ".inc", ".cu", ".cuh", ".py", ".sh"};
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(PROJECT_FOLDER) / folder))
        if (entry.is_regular_file() && std::count(endings.begin(), endings.end(), entry.path().extension()) > 0)
            files.push_back(entry.path());
    return files;
}

std::vector<std::string> lines_of(const fs::path& file) {
    std::vector<std::string> lines;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

/// Files that a file of the project includes by quotes.
std::vector<std::string> includes_of(const fs::path& file) {
    static const std::regex include{R"re(^\s*#\s*include\s+["<]([^">]+)[">])re"};
    std::vector<std::string> included;
    std::smatch match;
    for (const std::string& line : lines_of(file))
        if (std::regex_search(line, match, include)) included.push_back(match[1]);
    return included;
}

long height(const std::string& folder) {
    return std::find(folder_order.begin(), folder_order.end(), folder) - folder_order.begin();
}

std::string first_folder(const fs::path& path) { return path.begin()->string(); }

/// A header and the sources of the same name are one unit, named by their path in lib without the ending.
std::string unit_of(fs::path file_in_lib) { return file_in_lib.replace_extension().string(); }

using Graph = std::map<std::string, std::set<std::string>>;

/// The units of lib, each with the other units that it includes.
Graph included_units() {
    const fs::path lib = fs::path(PROJECT_FOLDER) / "lib";
    Graph units;
    for (const fs::path& file : source_files("lib")) {
        const std::string unit = unit_of(fs::relative(file, lib));
        for (const std::string& included : includes_of(file))
            if (fs::exists(lib / included) && unit_of(included) != unit) units[unit].insert(unit_of(included));
    }
    return units;
}

/// Removes the units that include none of the others, as long as there are any. @returns those that are left
Graph without_lowest(Graph units) {
    for (bool changed = true; changed;) {
        for (auto& [unit, included] : units) std::erase_if(included, [&](const auto& other) { return !units.contains(other); });
        changed = std::erase_if(units, [](const auto& unit) { return unit.second.empty(); }) > 0;
    }
    return units;
}

Graph reversed(const Graph& units) {
    Graph includers;
    for (const auto& [unit, included] : units)
        for (const std::string& other : included) includers[other].insert(unit);
    return includers;
}

/// Returns the units that include themselves through others, and the units on a path between two such rings.
std::vector<std::string> units_in_rings(const Graph& units) {
    std::vector<std::string> names;
    for (const auto& [unit, includers] : without_lowest(reversed(without_lowest(units)))) names.push_back(unit);
    return names;
}

}  // namespace

TEST_CASE("every folder of lib has its place in the order") {
    for (const auto& entry : fs::directory_iterator(fs::path(PROJECT_FOLDER) / "lib"))
        if (entry.is_directory()) CHECK(height(entry.path().filename().string()) < static_cast<long>(folder_order.size()));
}

TEST_CASE("a folder of lib includes only folders below it") {
    const fs::path lib = fs::path(PROJECT_FOLDER) / "lib";
    for (const fs::path& file : source_files("lib")) {
        const std::string folder = first_folder(fs::relative(file, lib));
        for (const std::string& included : includes_of(file)) {
            if (!fs::exists(lib / included)) continue;
            INFO(file.string() << " includes " << included);
            CHECK(height(first_folder(included)) <= height(folder));
        }
    }
}

TEST_CASE("a sub-folder of lib includes only the parts of its folder that lie below it") {
    const fs::path lib = fs::path(PROJECT_FOLDER) / "lib";
    for (const fs::path& file : source_files("lib")) {
        const fs::path in_lib = fs::relative(file, lib);
        const std::string part = in_lib.parent_path().string();
        if (part != first_folder(in_lib)) CHECK(parts_below.contains(part));
        for (const fs::path included : includes_of(file)) {
            const std::string other = included.parent_path().string();
            if (!fs::exists(lib / included) || first_folder(included) != first_folder(in_lib) || other == part) continue;
            INFO(file.string() << " includes " << included.string());
            CHECK((parts_below.contains(part) && parts_below.at(part).contains(other)));
        }
    }
}

TEST_CASE("an architecture is a room: only model/architecture.h opens it, and no other file names what is in it") {
    const fs::path lib = fs::path(PROJECT_FOLDER) / "lib";
    const std::map<std::string, std::regex> names_of_rooms{
        {"model/bert", std::regex("\"[^\"]*\\b(bert|cls)\\.|norm_placement|NormPlacement|\\bBert(Config)?\\b")},
        {"model/modern",
         std::regex("\"[^\"]*\\b(tok_embeddings|attn_norm|Wqkv)\\b|\\b(ModernBert|NeoBert|ModernEncoder)|local_attention")}};
    for (const fs::path& file : source_files("lib")) {
        const fs::path in_lib = fs::relative(file, lib);
        INFO(in_lib.string());
        if (unit_of(in_lib) == "model/architecture") continue;
        const std::string folder = in_lib.parent_path().string();
        for (const fs::path included : includes_of(file))
            if (const std::string room = included.parent_path().string(); room.starts_with("model/")) CHECK(room == folder);
        for (const std::string& line : lines_of(file)) {
            INFO(line);
            for (const auto& [room, names] : names_of_rooms)
                if (room != folder) CHECK_FALSE(std::regex_search(line.substr(0, line.find("//")), names));
        }
    }
}

TEST_CASE("a unit of fewer than 60 lines has two users or a test of its own") {
    const fs::path root(PROJECT_FOLDER);
    std::map<std::string, std::size_t> lengths;
    for (const fs::path& file : source_files("lib")) lengths[unit_of(fs::relative(file, root / "lib"))] += lines_of(file).size();
    std::map<std::string, std::set<std::string>> users;
    for (const std::string folder : {"lib", "apps", "data_tools", "scripts"})
        for (const fs::path& file : source_files(folder))
            for (const std::string& included : includes_of(file))
                if (const std::string user = unit_of(fs::relative(file, root)); user != "lib/" + unit_of(included))
                    users[unit_of(included)].insert(user);
    std::set<std::string> tests;  ///< "train/number_guard", wherever in tests/train it is
    for (const fs::path& file : source_files("tests"))
        if (const std::string name = file.stem().string(); name.ends_with("_test"))
            tests.insert(first_folder(fs::relative(file, root / "tests")) + "/" + name.substr(0, name.size() - 5));
    for (const auto& [unit, length] : lengths) {
        const std::string folder = unit.starts_with("kernels/cuda/module/") ? "gpu"
                                   : unit.starts_with("kernels/cuda/")      ? "kernels_cuda"
                                                                            : first_folder(unit);
        const std::string test = folder + "/" + fs::path(unit).filename().string();
        INFO(unit << ": fold it into its user or a sibling, or test it in tests/" << test << "_test.cpp");
        CHECK((length >= 60 || users[unit].size() >= 2 || tests.contains(test)));
    }
}

TEST_CASE("no two units of lib include each other, directly or through others") {
    const Graph ring_of_two{{"above", {"one", "lone"}}, {"one", {"two", "below"}}, {"two", {"one"}}};
    CHECK(units_in_rings(ring_of_two) == std::vector<std::string>{"one", "two"});
    CHECK(units_in_rings(included_units()) == std::vector<std::string>{});
}

TEST_CASE("the torch-free half includes nothing of torch") {
    const fs::path lib = fs::path(PROJECT_FOLDER) / "lib";
    for (const fs::path& file : source_files("lib")) {
        if (height(first_folder(fs::relative(file, lib))) >= height("kernels")) continue;
        for (const std::string& included : includes_of(file)) {
            INFO(file.string() << " includes " << included);
            CHECK_FALSE(std::regex_search(included, std::regex("^(ATen|c10|torch)/")));
        }
    }
}

TEST_CASE("heavy and private headers stay where they belong") {
    const std::string log = "spdlog/", command_line = "CLI/";
    const std::regex all_of_torch("^torch/(?!version\\.h$)[^/]*$");
    for (const std::string folder : {"lib", "apps", "data_tools"})
        for (const fs::path& file : source_files(folder))
            for (const std::string& included : includes_of(file)) {
                INFO(file.string() << " includes " << included);
                CHECK_FALSE(std::regex_search(included, all_of_torch));
                if (included.starts_with(log)) CHECK(file.filename() == "log.cpp");
                if (included.starts_with(command_line)) CHECK(folder != "lib");
            }
}

TEST_CASE("one file reads the environment") {
    const std::regex reading("\\bgetenv\\b");
    for (const std::string folder : {"lib", "apps", "data_tools"})
        for (const fs::path& file : source_files(folder)) {
            if (file.filename() == "environment.cpp" || file.extension() == ".py" || file.extension() == ".sh") continue;
            INFO(file.string());
            for (const std::string& line : lines_of(file)) CHECK_FALSE(std::regex_search(line, reading));
        }
}

TEST_CASE("settings in whose place the plan may decide are read nowhere else") {
    const std::regex decided(
        "\\bcpu_matmul *[!=]= *\"|\\bsettings(\\(\\))?\\.(training|parallel|batch|data)\\.(precision|gradient_dtype|reduce_dtype|"
        "device_micro_batch|vocabulary|dropout_seed|loader_threads|held_out_shards|cache_folder)\\b");
    for (const std::string folder : {"lib", "apps"})
        for (const fs::path& file : source_files(folder)) {
            const std::string name = fs::relative(file, fs::path(PROJECT_FOLDER)).string();
            // resolve.cpp decides, experiment_config.cpp refuses combinations; embed and evaluate have no experiment
            if (name == "lib/plan/resolve.cpp" || name == "lib/plan/experiment_config.cpp") continue;
            for (const std::string& line : lines_of(file)) {
                INFO(name << ": " << line);
                CHECK((!std::regex_search(line, decided) || line.find("arguments") != line.npos));
            }
        }
}

TEST_CASE("every CUDA kernel first waits for the kernel before it, whose end a launch may overlap") {
    const std::regex kernel("__global__"), waiting(R"(__global__ void[^{;]*\{\s*wait_for_kernel_before\(\);)");
    std::ptrdiff_t kernels = 0;
    for (const fs::path& file : source_files("lib/kernels/cuda")) {
        const std::string text = bertpretrain::testing::read_text(file);
        const auto count = [&](const std::regex& what) {
            return std::distance(std::sregex_iterator(text.begin(), text.end(), what), std::sregex_iterator());
        };
        INFO(file.string());
        CHECK(count(waiting) == count(kernel));
        kernels += count(kernel);
    }
    CHECK(kernels > 30);
}

TEST_CASE("no test has a name that Catch2 cannot print") {
    // Catch2 2 indents the lines after a ": " to its column, and prints without end where that leaves no room in 79 columns.
    constexpr std::size_t last_column = 72;
    const std::regex declaration("TEST_CASE\\(\\s*\"([^\"]*)\"");
    for (const fs::path& file : source_files("tests")) {
        const std::string text = bertpretrain::testing::read_text(file);
        for (std::sregex_iterator match(text.begin(), text.end(), declaration), end; match != end; ++match) {
            const std::string name = (*match)[1];
            INFO(file.string() << ": " << name);
            const std::size_t colon = name.find(": ");
            CHECK((colon == std::string::npos || colon < last_column));
        }
    }
}

TEST_CASE("no file is too long to know") {
    std::vector<std::size_t> lengths;
    for (const std::string folder : {"lib", "apps", "data_tools", "tests", "scripts"})
        for (const fs::path& file : source_files(folder)) {
            const std::size_t length = lines_of(file).size();
            INFO(file.string());
            CHECK(length <= 500);
            if (folder == "lib") lengths.push_back(length);
        }
    std::nth_element(lengths.begin(), lengths.begin() + static_cast<long>(lengths.size() / 2), lengths.end());
    CHECK(lengths[lengths.size() / 2] <= 120);
}
