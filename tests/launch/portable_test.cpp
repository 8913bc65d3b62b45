// The portable archive's launcher, with replacements of the program and of PyTorch's folders.
#include "core/error.h"
#include "support/catch.h"
#include "support/command.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

constexpr const char* new_abi = "_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx1112basic_stringIcE";
constexpr const char* old_abi = "_ZN3c105ErrorC1ENS_14SourceLocationESs";

void write_script(const fs::path& file, const std::string& lines) {
    write_text(file, "#!/bin/sh\n" + lines);
    fs::permissions(file, fs::perms::owner_all);
}

/// An unpacked archive for PyTorch 2.9 and 2.11 and glibc 2.`glibc_minor`, whose program prints its arguments. Only that for
/// PyTorch 2.11 has GPU tests.
class Archive {
public:
    explicit Archive(const std::string& glibc_minor = "17") {
        for (const std::string name : {"bin", "libexec", "libexec/torch-2.9", "libexec/torch-2.11", "tools"})
            fs::create_directory(folder_ / name);
        for (const std::string name : {"bertpretrain", "bertpretrain_data", "test_gpu"}) {
            const std::string launcher = (folder_ / "bin" / name).string();
            run_command(concat("sed 's/@TORCH_VERSIONS@/2.9, 2.11/; s/@TORCH_RELEASE@/2.11.0/; s/@GLIBC_MINOR@/", glibc_minor,
                               "/' scripts/portable/launcher.sh >", launcher, " && chmod +x ", launcher));
        }
        write_script(folder_ / "libexec/bertpretrain_data", "echo data");
        write_script(folder_ / "libexec/torch-2.9/bertpretrain", "echo 'for 2.9'");
        write_script(folder_ / "libexec/torch-2.11/bertpretrain",
                     "echo \"libraries: $LD_LIBRARY_PATH\"; printf 'argument: %s\\n' \"$@\"");
        write_script(folder_ / "libexec/torch-2.11/test_gpu", "echo \"programs: $BERTPRETRAIN_TEST_PROGRAMS\"");
        for (const std::string minor : {"2.9", "2.11"})
            write_text(folder_ / "libexec" / ("torch-" + minor) / "cuda_version", "13.0\n");
        run_command(concat("for tool in sh readlink dirname sed tr grep cat getconf; do ln -s $(command -v $tool) ",
                           (folder_ / "tools").string(), "/; done"));
    }

    /// Makes a folder `torch` as in an installation. @returns its path
    fs::path install_torch(const std::string& version, const std::string& symbols = new_abi,
                           const std::string& where = "site") const {
        const fs::path torch = folder_ / where / "torch";
        fs::create_directories(torch / "lib");
        write_text(torch / "__init__.py", "");
        write_text(torch / "lib/libtorch_cpu.so", "");
        write_text(torch / "lib/libgomp.so.1", "");
        write_text(torch / "lib/libc10.so", symbols);
        write_text(torch / "version.py", concat("__version__ = '", version, "'\ndebug = False\ncuda: Optional[str] = '13.0'\n"));
        return torch;
    }

    /// Puts a python3 on the PATH whose package torch is in `torch` (empty: it has no torch).
    void install_python(const std::string& torch) { write_script(folder_ / "tools/python3", concat("echo '", torch, "'\n")); }

    /// Runs the launcher; `variables` may begin with options of `env`.
    CommandResult run(const std::string& arguments, const std::string& variables = "",
                      const std::string& program = "bertpretrain") const {
        return run_command(concat("env -i ", variables, " PATH='", (folder_ / "tools").string(), "' '",
                                  (folder_ / "bin" / program).string(), "' ", arguments));
    }
    fs::path path() const { return folder_.path(); }

private:
    TemporaryFolder folder_;
};

/// Checks that the launcher refused, with each of `words` in its message.
void check_refusal(const CommandResult& result, const std::vector<std::string>& words) {
    INFO(result.out << result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    for (const std::string& word : words) {
        INFO("missing: " << word);
        CHECK(result.err.find(word) != std::string::npos);
    }
}

}  // namespace

TEST_CASE("the launcher takes PyTorch from --torch, else from BERTPRETRAIN_TORCH, else from python3") {
    Archive archive;
    const fs::path of_python = archive.install_torch("2.11.0+cu130", new_abi, "python");
    const fs::path of_variable = archive.install_torch("2.11.0+cpu", new_abi, "variable");
    const fs::path of_option = archive.install_torch("2.11.0", new_abi, "option");
    archive.install_python(of_python);
    const std::string variable = concat("BERTPRETRAIN_TORCH=", of_variable.string());
    const auto libraries = [](const fs::path& torch) { return concat("libraries: ", (torch / "lib").string(), "\n"); };
    CHECK(archive.run("train").out == libraries(of_python) + "argument: train\n");
    CHECK(archive.run("train", variable).out == libraries(of_variable) + "argument: train\n");
    // The folder around `torch` is accepted too, and the option may be anywhere.
    const std::string around = of_option.parent_path().string();
    CHECK(archive.run("--torch " + around + " train 'a b'", variable).out ==
          libraries(of_option) + "argument: train\nargument: a b\n");
    CHECK(archive.run("train --torch=" + around + " ''").out == libraries(of_option) + "argument: train\nargument: \n");
}

TEST_CASE("the launcher asks Python for its package torch, and ignores a folder named torch in the current folder") {
    const Archive archive;
    const fs::path torch = archive.install_torch("2.11.0");
    archive.install_torch("2.11.0", new_abi, "current");
    write_script(archive.path() / "tools/python3", concat("exec ", python(), " \"$@\"\n"));
    const std::string variables =
        concat("-C '", (archive.path() / "current").string(), "' PYTHONPATH=", torch.parent_path().string());
    const CommandResult result = archive.run("train", variables);
    INFO(result.err);
    CHECK(result.out == concat("libraries: ", (torch / "lib").string(), "\nargument: train\n"));
}

TEST_CASE("the launcher prints where it looked for PyTorch and how to name one") {
    Archive archive;
    check_refusal(archive.run("train"), {"PyTorch was not found", "no python3 on the PATH", "this program fits PyTorch 2.9, 2.11",
                                         "pip install torch==2.11.0", "--torch DIR"});
    archive.install_python("");
    check_refusal(archive.run("train"), {"PyTorch was not found", "tools/python3 has no package torch", "BERTPRETRAIN_TORCH"});
    check_refusal(archive.run("--torch /nowhere train"), {"no PyTorch in --torch /nowhere", "libtorch_cpu.so"});
    check_refusal(archive.run("train", "BERTPRETRAIN_TORCH=/nowhere"), {"no PyTorch in BERTPRETRAIN_TORCH=/nowhere"});
    check_refusal(archive.run("train --torch"), {"--torch needs a folder"});
}

TEST_CASE("the launcher chooses the program by the minor version of PyTorch") {
    Archive archive;
    CHECK(archive.run("--torch " + archive.install_torch("2.9.1+cu128").string()).out == "for 2.9\n");
    const std::string torch = archive.install_torch("2.11.3").string();
    CHECK(archive.run("--torch " + torch + " train").out == concat("libraries: ", torch, "/lib\nargument: train\n"));
    CHECK(archive.run("--torch " + torch, "", "test_gpu").out ==
          concat("programs: ", archive.path().string(), "/libexec/torch-2.11\n"));
    archive.install_torch("2.9.0");
    check_refusal(archive.run("--torch " + torch, "", "test_gpu"),
                  {"test_gpu was not built for PyTorch 2.9.0", "torch-2.11/test_gpu", "pip install torch==2.11.0"});
}

TEST_CASE("the launcher takes PyTorch from the folder around its own before it asks a Python, and bertpretrain_data needs none") {
    Archive archive;
    CHECK(archive.run("", "", "bertpretrain_data").out == "data\n");
    const fs::path package = archive.path() / "site/bertpretrain", of_python = archive.install_torch("2.11.0", new_abi, "python");
    archive.install_python(of_python);
    fs::create_directories(package);
    for (const std::string name : {"bin", "libexec"})
        fs::copy(archive.path() / name, package / name, fs::copy_options::recursive);
    const std::string command =
        concat("env -i PATH='", (archive.path() / "tools").string(), "' ", package.string(), "/bin/bertpretrain");
    CHECK(run_command(command).out == concat("libraries: ", (of_python / "lib").string(), "\nargument: \n"));
    const fs::path beside = archive.install_torch("2.11.0");
    CHECK(run_command(command).out == concat("libraries: ", (beside / "lib").string(), "\nargument: \n"));
}

TEST_CASE("the launcher refuses a PyTorch of another version or C++ ABI, and a glibc that is too old") {
    Archive archive;
    for (const std::string version : {"2.10.0+cu128", "2.1.2", "2.12.0", "2.11.0a0+git1234", "2.11"}) {
        const std::string torch = archive.install_torch(version).string();
        check_refusal(archive.run("--torch " + torch),
                      {concat("found PyTorch ", version, " in ", torch), "this program fits PyTorch 2.9, 2.11", "pip install"});
    }
    const std::string abi = archive.install_torch("2.11.0+cu130", old_abi).string();
    check_refusal(archive.run("--torch " + abi), {"old C++ ABI", abi, "expected: the C++11 ABI", "install one of them"});
    check_refusal(Archive("99").run("train"), {"this machine has glibc 2.", "expected: glibc 2.99 or newer"});
}

TEST_CASE("the launcher adds none of the archive's libraries to the search path except OpenMP, if PyTorch has none") {
    Archive archive;
    const fs::path torch = archive.install_torch("2.11.0");
    const std::string root = archive.path().string(), lib = (torch / "lib").string();
    CHECK(archive.run("--torch " + torch.string(), "LD_LIBRARY_PATH=/theirs").out ==
          concat("libraries: ", lib, ":/theirs\nargument: \n"));
    fs::remove(torch / "lib/libgomp.so.1");
    CHECK(archive.run("--torch " + torch.string()).out == concat("libraries: ", lib, ":", root, "/lib/fallback\nargument: \n"));
    // Conda's packages: torch/lib holds links into a folder with more of the libraries.
    fs::create_directory(archive.path() / "conda");
    fs::rename(torch / "lib/libtorch_cpu.so", archive.path() / "conda/libtorch_cpu.so");
    write_text(archive.path() / "conda/libgomp.so.1", "");
    fs::create_symlink(archive.path() / "conda/libtorch_cpu.so", torch / "lib/libtorch_cpu.so");
    CHECK(archive.run("--torch " + torch.string()).out == concat("libraries: ", lib, ":", root, "/conda\nargument: \n"));
}

TEST_CASE("the launcher adds the archive's libcrypto only where the system has none") {
    const Archive archive;
    const std::string torch = archive.install_torch("2.11.0").string(), openssl = archive.path().string() + "/lib/openssl";
    write_script(archive.path() / "libexec/bertpretrain_data", "echo \"libraries: $LD_LIBRARY_PATH\"");
    run_command(concat("sed -i 's/libcrypto.so.3/libcrypto.so.none/' ", (archive.path() / "bin").string(), "/*"));
    CHECK(archive.run("--torch " + torch).out == concat("libraries: ", torch, "/lib:", openssl, "\nargument: \n"));
    CHECK(archive.run("", "LD_LIBRARY_PATH=/theirs", "bertpretrain_data").out == concat("libraries: /theirs:", openssl, "\n"));
}

TEST_CASE("the launcher works through a link, from a folder whose name has a space") {
    Archive archive;
    const fs::path torch = archive.install_torch("2.11.0"), moved = archive.path() / "a folder";
    fs::create_directory(moved);
    for (const std::string name : {"bin", "libexec"}) fs::rename(archive.path() / name, moved / name);
    fs::create_directory(archive.path() / "bin");
    fs::create_symlink(moved / "bin/bertpretrain", archive.path() / "bin/bertpretrain");
    CHECK(archive.run("--torch " + torch.string() + " train").out.find("argument: train") != std::string::npos);
}

TEST_CASE("shellcheck finds nothing in the launcher and its packaging scripts") {
    INFO("scripts/setup.sh --oracles installs shellcheck");
    REQUIRE(run_command("command -v shellcheck").exit_code == 0);
    const CommandResult result =
        run_command("shellcheck scripts/portable/*.sh scripts/package_*.sh scripts/check_portable.sh scripts/check_wheel.sh");
    INFO(result.out);
    CHECK(result.exit_code == 0);
}
