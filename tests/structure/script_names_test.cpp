// Python scripts use only names that exist (script_names.py): most of the benchmarks' need packages, and no other test runs them.
#include "support/catch.h"
#include "support/command.h"

using namespace bertpretrain::testing;

namespace {

const std::string script_names = PYTHON " tests/structure/script_names.py ";

}  // namespace

TEST_CASE("a name that a script uses, or imports from another script, and that nothing defines is found") {
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder / "package");
    write_text(folder / "tool.py", "import os\nclass Run:\n    limit = 3\ndef helper(x):\n    return x + os.getpid()\n");
    write_text(folder / "package/__init__.py", "");
    write_text(folder / "package/part.py", "VALUE = 1\n");
    write_text(folder / "package/user.py", "from . import part\nfrom .part import VALUE, OTHER\nprint(part.VALUE, part.GONE)\n");
    write_text(folder / "good.py",
               "import numpy\nimport tool\nfrom tool import Run\nfrom package.part import VALUE\n"
               "def use():\n    return [tool.helper(i) for i in range(Run.limit)], numpy.zeros(VALUE)\n");
    write_text(folder / "bad.py", "import tool\nfrom tool import Run, run\ndef use():\n    return tool.runs(unknown)\n");
    const CommandResult found = run_command(script_names + folder.path().string());
    CHECK(found.exit_code == 1);
    CHECK(found.err == "");
    CHECK(found.out ==
          "bad.py: run, which tool.py lacks\nbad.py: tool.runs, which tool.py lacks\nbad.py: unknown\n"
          "package/user.py: OTHER, which part.py lacks\npackage/user.py: part.GONE, which part.py lacks\n");
}

TEST_CASE("the project's scripts use no name that nothing defines") {
    const CommandResult found = run_command(script_names);
    INFO(found.out << found.err);
    CHECK(found.exit_code == 0);
}
