// The scripts that make the wheel, on small folders and on copies of this build's programs.
#include <sstream>

#include "core/error.h"
#include "core/strings.h"
#include "support/catch.h"
#include "support/command.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

void write_script(const fs::path& file, const std::string& lines) {
    write_text(file, "#!/bin/sh\n" + lines);
    fs::permissions(file, fs::perms::owner_all);
}

/// Runs scripts/portable/`script`.
CommandResult run_script(const std::string& script, const std::string& arguments) {
    return run_command(concat("PYTHONDONTWRITEBYTECODE=1 " PYTHON " scripts/portable/", script, " ", arguments));
}

std::string quoted(const fs::path& path) { return concat("'", path.string(), "'"); }

/// Makes a wheel of `root` in the folder `output`. @returns the wheel
fs::path make_wheel(const fs::path& root, const fs::path& output) {
    const CommandResult made =
        run_script("write_wheel.py", concat(quoted(root), " ", quoted(output), " --version 1.2 --torch 2.9 2.11"));
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    return made.out.substr(0, made.out.size() - 1);
}

/// A folder as scripts/portable/stage.sh makes it, whose programs print their name and arguments.
void stage(const fs::path& root) {
    for (const std::string folder : {"bin", "share/man/man1", "configs"}) fs::create_directories(root / folder);
    for (const std::string name : {"bertpretrain", "bertpretrain_data"})
        write_script(root / "bin" / name, concat("printf '%s\\n' ", name, " \"$@\"\n"));
    write_text(root / "share/man/man1/bertpretrain.1", "a page");
    write_text(root / "configs/small.json", "{}");
    write_text(root / "LICENCES", "licences");
    write_text(root / "SBOM.json", "{}");
}

/// The versions in scripts/portable/torch_versions.txt as pages name them: "2.9 to 2.11" without gaps, else "2.9, 2.11".
std::string listed_versions() {
    std::istringstream list(read_text(project_folder() + "/scripts/portable/torch_versions.txt"));
    std::vector<std::string> minors;
    bool has_gaps = false;
    for (std::string line; std::getline(list, line);) {
        if (line.empty() || line.front() == '#') continue;
        const std::string minor = line.substr(0, line.find(' '));
        const auto number = [](const std::string& text) { return std::stoi(text.substr(text.find('.') + 1)); };
        has_gaps = has_gaps || (!minors.empty() && number(minor) != number(minors.back()) + 1);
        minors.push_back(minor);
    }
    REQUIRE(!minors.empty());
    return has_gaps ? join(minors) : concat(minors.front(), " to ", minors.back());
}

/// The library `name` that bertpretrain_data loads, or an empty path.
fs::path library_of_data_program(const std::string& name) {
    const std::string path =
        run_command(concat("ldd " PROGRAM_FOLDER "/bertpretrain_data | sed -n 's|.*", name, ".* => \\(/[^ ]*\\).*|\\1|p'")).out;
    return path.substr(0, path.find('\n'));
}

}  // namespace

TEST_CASE("pip installs the wheel with programs that start without Python, and the wheel has the same bytes each time") {
    const TemporaryFolder folder;
    const fs::path root = folder / "a root", there = folder / "an environment";
    stage(root);
    const fs::path wheel = make_wheel(root, folder / "first");
    CHECK(wheel.filename() == "bertpretrain-1.2-py3-none-manylinux_2_34_x86_64.whl");
    fs::last_write_time(root / "configs/small.json", fs::file_time_type::clock::now() - std::chrono::hours(1));
    CHECK(read_text(make_wheel(root, folder / "second").string()) == read_text(wheel.string()));

    const CommandResult installed =
        run_command(concat(PYTHON " -m pip install --quiet --disable-pip-version-check --no-deps --no-index --prefix ",
                           quoted(there), " ", quoted(wheel)));
    INFO(installed.err);
    REQUIRE(installed.exit_code == 0);
    fs::create_directory(folder / "tools");
    run_command(concat("for tool in sh readlink; do ln -s $(command -v $tool) ", quoted(folder / "tools"), "/; done"));
    const std::string bare = concat("env -i PATH=", quoted(folder / "tools"), " ");
    CHECK(run_command(concat(bare, quoted(there / "bin/bertpretrain"), " train 'a b'")).out == "bertpretrain\ntrain\na b\n");
    CHECK(run_command(concat(bare, quoted(there / "bin/bertpretrain_data"))).out == "bertpretrain_data\n");
    CHECK(read_text((there / "share/man/man1/bertpretrain.1").string()) == "a page");
    const std::string information =
        run_command(concat("cd ", quoted(there), "/lib/python3*/site-packages/bertpretrain-1.2.dist-info && ",
                           "cat licenses/LICENCES sboms/SBOM.json METADATA"))
            .out;
    for (const std::string part : {"licences{}", "Version: 1.2", "2.9, 2.11", "torch<2.12,>=2.9; extra == \"torch\""}) {
        INFO(part);
        CHECK(information.find(part) != information.npos);
    }
}

TEST_CASE("the pages name the versions of PyTorch that the wheel is built for") {
    for (const std::string page : {"README.md", "scripts/README.md"}) {
        INFO(page << ": expected PyTorch " << listed_versions());
        CHECK(read_text(project_folder() + "/" + page).find("PyTorch " + listed_versions()) != std::string::npos);
    }
}

TEST_CASE("an installed program whose package is missing says so") {
    const TemporaryFolder folder;
    fs::create_directory(folder / "bin");
    fs::copy(project_folder() + "/scripts/portable/entry.sh", folder / "bin/bertpretrain");
    const CommandResult result = run_command("sh " + (folder / "bin/bertpretrain").string());
    CHECK(result.exit_code == 2);
    CHECK(result.err.find("the package bertpretrain was not found beside") != result.err.npos);
    CHECK(result.err.find("install the wheel again") != result.err.npos);
}

TEST_CASE("a folder that stage.sh did not make is refused") {
    const TemporaryFolder folder;
    const CommandResult result =
        run_script("write_wheel.py", concat(quoted(folder.path()), " ", quoted(folder.path()), " --version 1 --torch 2.9"));
    CHECK(result.exit_code == 1);
    CHECK(result.err.find("has no bin/bertpretrain") != result.err.npos);
}

TEST_CASE("programs run with older versions of symbols, and a file that needs newer ones is named") {
    const TemporaryFolder folder;
    const fs::path program = folder / "bertpretrain_data";
    fs::copy(PROGRAM_FOLDER "/bertpretrain_data", program);
    const CommandResult lowered = run_script("lower_versions.py", quoted(folder.path()));
    INFO(lowered.out << lowered.err);
    // A newer system than Debian 12 compiles programs that need its own C library.
    const bool is_new = lowered.exit_code == 1 && lowered.err.find("expected at most: GLIBC_2.34") != lowered.err.npos;
    CHECK((lowered.exit_code == 0 || is_new));
    CHECK(run_command("objdump -T " + program.string()).out.find("GLIBCXX_3.4.30") == std::string::npos);
    const CommandResult version =
        run_command("LD_LIBRARY_PATH=" PROGRAM_FOLDER " LD_BIND_NOW=1 " + program.string() + " --version");
    INFO(version.err);
    CHECK(version.exit_code == 0);
}

TEST_CASE("HDF5 loads and works without the libcurl that it was linked with") {
    const TemporaryFolder folder;
    const fs::path installed = library_of_data_program("libhdf5");
    REQUIRE(!installed.empty());
    fs::copy(installed, folder / "libhdf5.so");
    const std::string copy = (folder / "libhdf5.so").string();
    const bool has_curl = run_command("objdump -p " + copy).out.find("libcurl.so.4") != std::string::npos;
    const CommandResult dropped = run_script("drop_library.py", copy + " libcurl.so.4");
    CHECK(dropped.exit_code == (has_curl ? 0 : 1));
    CHECK(run_command("objdump -p " + copy).out.find("libcurl") == std::string::npos);
    const CommandResult used =
        run_command("LD_BIND_NOW=1 " PYTHON " -c 'import ctypes, sys; sys.exit(ctypes.CDLL(\"" + copy + "\").H5open())'");
    INFO(used.err);
    CHECK(used.exit_code == 0);
    const CommandResult again = run_script("drop_library.py", copy + " libcurl.so.4");
    CHECK(again.exit_code == 1);
    CHECK(again.err.find("does not need libcurl.so.4") != again.err.npos);
}
