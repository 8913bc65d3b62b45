// tests/support/warm_python.py, which runs oracles: a program sees there what it sees in an interpreter of its own. Outside of
// ctest both are interpreters of their own.
#include <string>

#include "support/catch.h"
#include "support/command.h"

using namespace bertpretrain::testing;

namespace {

/// What a command does in an interpreter of its own, and warm; `before` is put in front.
void check_same(const std::string& arguments, const std::string& before = "") {
    const CommandResult cold = run_command(before + " " + PYTHON + " " + arguments);
    const CommandResult warm = run_command(before + " " + WARM_PYTHON + " " + arguments);
    CAPTURE(before, arguments, cold.err, warm.err);
    CHECK(warm.exit_code == cold.exit_code);
    CHECK(warm.out == cold.out);
    const auto last_line = [](const std::string& text) { return text.substr(text.rfind('\n', text.size() - 2) + 1); };
    CHECK(last_line(warm.err) == last_line(cold.err));
}

}  // namespace

TEST_CASE("a warm Python gives a program the arguments, input, environment and folder of the caller, and its exit code back") {
    const TemporaryFolder folder;
    write_text(folder / "beside.py", "value = 7\n");
    write_text(folder / "program.py",
               "import sys, os, beside\n"
               "class Own: pass\n"
               "assert __name__ == '__main__' and Own.__module__ == '__main__'\n"
               "print(sys.argv[1:], os.getcwd(), beside.value, os.environ.get('ASKED'), sys.stdin.read())\n"
               "print('to the other stream', file=sys.stderr)\n"
               "sys.exit({'number': 77, 'text': 'a reason', 'none': None}[sys.argv[1]])\n");
    const std::string program = (folder / "program.py").string();
    for (const char* const end : {"number", "text", "none", "unknown"})
        check_same(program + " " + end + " 'two words' '' <" + (folder / "beside.py").string(), "cd / && ASKED='a b' ");
    check_same("-c 'import sys, torch; print(sys.argv, torch.arange(3).sum().item()); raise ValueError(1)' x");
    check_same(
        "- x y <<'END'\nimport sys\nprint(sys.argv)\nclass Own: pass\nimport pickle\nprint(len(pickle.dumps(Own())))\nEND\n");
    check_same("-c 'import subprocess, sys; sys.exit(subprocess.run([\"false\"]).returncode)'");
    CHECK(run_command("ulimit -c 0; " WARM_PYTHON " -c 'import os; os.abort()'").exit_code == 134);
}

TEST_CASE("a program in a warm Python ends with its caller") {
    const TemporaryFolder folder;
    write_text(folder / "program.py", "import os, sys, time\nprint(os.getpid(), flush=True)\ntime.sleep(600)\n");
    const std::string program = (folder / "program.py").string(), number = (folder / "number").string();
    const CommandResult result = run_command(WARM_PYTHON " " + program + " >" + number + " & caller=$!\n" + "while [ ! -s " +
                                             number + " ]; do sleep 0.1; done\n" +
                                             "kill -9 $caller; wait $caller\n"
                                             "for i in $(seq 600); do kill -0 $(cat " +
                                             number + ") || exit 0; sleep 0.1; done; exit 1");
    CHECK(result.exit_code == 0);
}

TEST_CASE("where the server of warm Pythons ends without starting a program, the interpreter itself runs it") {
    const TemporaryFolder folder;
    const std::string address = (folder / "warm_python").string();
    const CommandResult result =
        run_command(PYTHON
                    " -c 'import socket, sys\nserver = socket.socket(socket.AF_UNIX)\nserver.bind(sys.argv[1])\n"
                    "server.listen()\nserver.accept()[0].close()' " +
                    address + " & while [ ! -S " + address + " ]; do sleep 0.1; done; sleep 0.5\n" +
                    "BERTPRETRAIN_TEST_SCRATCH=" + folder.path().string() + " " WARM_PYTHON " -c 'print(7)'");
    CHECK(result.exit_code == 0);
    CHECK(result.out == "7\n");
}
