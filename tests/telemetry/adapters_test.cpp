// scripts/telemetry: the programs that send a run's numbers to Weights & Biases and MLflow, with stand-ins of their packages.
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "support/catch.h"
#include "support/command.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

const std::string given_lines =
    R"({"time":"2026-01-01T00:00:00Z","event":"start","step":0,"ranks":2}
{"step":1,"mlm_loss":2.5,"nsp_loss":null,"non_finite":true,"sources":{"wiki":{"samples":16}}}
{"step":1,"held_out_mlm_loss":2.25}
{"step":1,"time":5,"host":"a.b","devices":[{"rank":0,"device":"cuda:0","temperature_celsius":61},{"rank":8,"device":"cpu"}]}
{"step":2,"mlm_lo)";  // the last line may be cut

/// Runs an adapter on given_lines, with a module whose functions record their calls. @returns the calls, a JSON list in each line
/// @param id of the run; empty: its folder records none
std::string calls_of(const std::string& script, const std::string& module, const std::string& code, const std::string& id = "") {
    const TemporaryFolder folder;
    const auto run = folder / "my run";
    std::filesystem::create_directories(run);
    write_text(run / "plan.json",
               R"({"about": {"value": "text", "origin": "file"}, "batch": {"micro_batch_size": {"value": 16}}})");
    if (!id.empty()) write_text(run / "run_id", id + "\n");
    write_text(folder / "lines", given_lines);
    write_text(folder / concat(module, ".py"),
               concat("import json, os\n\n\ndef call(*what):\n"
                      "    open(os.environ['CALLS'], 'a').write(json.dumps(what, sort_keys=True) + '\\n')\n\n\n",
                      code));
    const CommandResult result = run_command(concat("PYTHONPATH='", folder.path().string(), "' CALLS='",
                                                    (folder / "calls").string(), "' " PYTHON " scripts/telemetry/", script, " '",
                                                    run.string(), "' <'", (folder / "lines").string(), "'"));
    INFO(result.err);
    CHECK(result.exit_code == 0);
    return read_text(folder / "calls");
}

}  // namespace

TEST_CASE("to_wandb.py logs every number at its step, with the run's settings") {
    const std::string calls = calls_of("to_wandb.py", "wandb", R"(class Run:
    summary = {}
    def log(self, values, step): call('log', values, step)
    def finish(self): call('finish', self.summary)
def init(project, name, id, resume, config):
    call('init', project, name, id, resume, config)
    return Run()
)",
                                       "00ff00ff12345678");
    CHECK(calls == R"(["init", "bertpretrain", "my run", "00ff00ff12345678", "allow", {"batch.micro_batch_size": 16}]
["log", {"mlm_loss": 2.5, "sources/wiki/samples": 16}, 1]
["log", {"held_out_mlm_loss": 2.25}, 1]
["log", {"devices/rank_0/temperature_celsius": 61}, 1]
["finish", {"event/start": 0}]
)");
}

TEST_CASE("to_mlflow.py logs every number at its step, and continues an earlier run of the same id") {
    const std::string module = R"(class Any:
    experiment_id = '7'
    run_id = 'earlier'
Any.info = Any
def set_experiment(name):
    call('set_experiment', name)
    return Any()
def start_run(run_id=None, run_name=None, tags=None): call('start_run', run_id, run_name, len(tags or {}))
def log_params(params): call('log_params', params)
def log_metrics(values, step): call('log_metrics', values, step)
def set_tag(name, value): call('set_tag', name)
def end_run(): call('end_run')
)";
    const std::string logged = R"(["set_tag", "event.start"]
["log_metrics", {"mlm_loss": 2.5, "sources/wiki/samples": 16}, 1]
["log_metrics", {"held_out_mlm_loss": 2.25}, 1]
["log_metrics", {"devices/rank_0/temperature_celsius": 61}, 1]
["end_run"]
)";
    const std::string search =
        "def search_runs(ids, filter_string, max_results, output_format):\n    call('search', filter_string)\n    return ";
    const std::string searched = "[\"set_experiment\", \"bertpretrain\"]\n[\"search\", \"tags.run_id = 'abcd'\"]\n";
    CHECK(calls_of("to_mlflow.py", "mlflow", module + search + "[]\n", "abcd") == searched + R"(["start_run", null, "my run", 2]
["log_params", {"batch.micro_batch_size": "16"}]
)" + logged);
    CHECK(calls_of("to_mlflow.py", "mlflow", module + search + "[Any]\n", "abcd") ==
          searched + "[\"start_run\", \"earlier\", null, 0]\n" + logged);
}

TEST_CASE("a run of an earlier version, without an id, is known by its path, and another path is another run") {
    const std::string module =
        "class Run:\n    summary = {}\n    def log(self, values, step): pass\n    def finish(self): pass\n"
        "def init(project, name, id, resume, config):\n    call(len(id))\n    return Run()\n";
    CHECK(calls_of("to_wandb.py", "wandb", module) == "[16]\n");
}

TEST_CASE("a missing package is one line and exit code 1, and the help names the script by a path that works from any folder") {
    const TemporaryFolder folder;
    for (const std::string name : {"wandb", "mlflow"}) {
        const std::string script = std::filesystem::absolute("scripts/telemetry/to_" + name + ".py").string();
        write_text(folder / (name + ".py"), "import no_such_package\n");
        const std::string command = concat("cd ", folder.path().string(), " && PYTHONPATH=. ", PYTHON, " ", script, " ");
        const CommandResult missing = run_command(command + "run </dev/null");
        CHECK(missing.exit_code == 1);
        CHECK(missing.err.find(name + " cannot be imported") == 0);
        CHECK(std::count(missing.err.begin(), missing.err.end(), '\n') == 1);
        const CommandResult help = run_command(command + "--help");
        CHECK(help.exit_code == 0);
        CHECK(help.out.find("python3 " + script) != std::string::npos);
    }
}
