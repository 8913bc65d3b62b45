"""Runs every script of scripts/, or those that are named:  every_script.py [SCRIPT...]

Each runs in a copy of the checkout whose path has blanks at both ends, a line break, quotes and other characters that shells interpret,
and is started from another folder. --help and -h must print something, end with 0 and do nothing. Then the script is run with files of
such names, and with one that begins with a dash. Programs that it calls are replaced by stand-ins, which record their arguments. A script
that has neither a case in this file nor an entry in EXCEPTIONS is an error. Prints a line for each failure, and exits with 1 if there
are any."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import traceback
import zipfile

from script_world import CASES, DASH, NAME, PROJECT, World, case, expect, expect_equal

# Scripts that are run with --help alone, and why.
EXCEPTIONS = {
    "build.sh": "it takes names of build targets",
    "check.sh": "it takes no name; it runs the other checks for hours",
    "check_docs.py": "it takes names of this project's pages",
    "check_image.sh": "it takes no name; it needs root and debootstrap",
    "check_package.sh": "it takes no name; package_test.cpp runs it",
    "check_portable.sh": "it takes no name; it needs root and debootstrap",
    "check_wheel.sh": "it needs a complete build and a package index",
    "format.sh": "it takes no name",
    "lint.sh": "it takes no name",
    "package_portable.sh": "it needs a complete build; check_portable.sh runs it",
    "package_wheel.sh": "it needs a complete build; check_wheel.sh runs it",
    "portable/build.sh": "it takes versions of PyTorch",
    "portable/entry.sh": "its --help is the program's; wheel_test.cpp runs it",
    "portable/launcher.sh": "it is a template, whose --help is the program's; portable_test.cpp runs it",
    "portable/prove.sh": "it takes no name; check_portable.sh runs it in a bare system",
    "portable/stage.sh": "it needs a complete build; check_wheel.sh and check_portable.sh run it",
    "random_failures.py": "it needs a build that trains",
    "sanitize.sh": "it takes names of test folders",
    "setup.sh": "it takes no name, and installs packages",
    "test.sh": "it takes no name; it runs all tests",
    "launch/aws_batch/*": "AWS accepts letters and digits only; cloud_scripts_test.cpp runs it in such a checkout",
    "launch/aws_eks/*": "Kubernetes accepts letters and digits only; cloud_scripts_test.cpp runs it in such a checkout",
    "launch/docker/*": "registries accept letters and digits only; cloud_scripts_test.cpp runs it in such a checkout",
}
WITHOUT_HELP = {"portable/entry.sh", "portable/launcher.sh"}

def files_of(folder):
    return {path: path.lstat().st_mtime_ns for path in folder.rglob("*") if not path.is_dir()}


def prepare_help(world):
    for name in ("aws", "cmake", "kubectl", "docker", "srun", "torchrun", "pip", "apt-get", "ctest", "git"):
        world.stand_in(name, "exit 9")
    python = world.checkout / ".venv/bin/python"
    world.stand_in(python, f'exec "{sys.executable}" "$@"')


def check_help(world, script):
    before = files_of(world.checkout) | files_of(world.home)
    for option in ("--help", "-h"):
        done = subprocess.run(world.command(script, option), cwd=world.home, env=world.environment({}), text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=120)
        expect(done.returncode == 0 and len(done.stdout) > 40 and done.stderr == "",
               f"{option}: exit code {done.returncode}:\n{done.stdout[:500]}{done.stderr[-500:]}")
        expect([call for call in world.calls() if call[0] != "python"] == [], f"{option} calls programs")
        after = files_of(world.checkout) | files_of(world.home)
        expect(after == before, f"{option} writes {set(after.items()) ^ set(before.items())}")


@case("pipeline.sh")
def pipeline(world):
    long_name = "ü" * 110 + ".txt"
    names = [NAME + ".txt", " lead.txt", "trail.txt ", DASH, "back\\slash\\n", "new\nline", f"{NAME}/ below ", long_name]
    for folder in (NAME, DASH):
        texts = f"{folder}texts"
        for name in names:
            world.write(f"{texts}/{name}", name)
        world.stand_in("train_it", 'while [[ $1 != --output ]]; do shift; done; mkdir -p "$2"')
        world.stand_in("program", f'''case "$1 $2" in
            "config pipeline") printf '%s=%q ' models {quoted(folder + "models")} data_text_folder {quoted(texts)} experiment e.json \\
              evaluation_held_out_shards held ranks 1 ;;
            "train "*) while [[ $1 != --output ]]; do shift; done; mkdir -p "$2" ;; esac''')
        world.stand_in("program_data", '''[[ $1 == shard ]] || exit 0
            for file in "$2"/*; do cat "$file" >>"$CALLS.learned"; printf '\\0' >>"$CALLS.learned"; done
            while [[ $1 != --output ]]; do shift; done; mkdir -p "$2"; touch "$2/manifest.json"''')
        learned = pathlib.Path(f"{world.calls_file}.learned")
        program = {"BERTPRETRAIN": world.bin / "program", "TRAIN_LAUNCHER": "train_it 'two words'"}
        world.run("pipeline.sh", folder, **program)
        expect_equal(sorted(learned.read_text().split("\0")[:-1]), sorted(names))
        calls = world.calls()
        expect(["program", "config", "pipeline", f"./{DASH}" if folder == DASH else folder, "--shell"] in calls, f"the config: {calls}")
        expect(any(call[:3] == ["train_it", "two words", "e.json"] for call in calls), f"TRAIN_LAUNCHER's words: {calls}")
        expect("no new texts" in world.run("pipeline.sh", folder, **program), "a text was learned twice")
        world.write(f"{texts}/one more \n", "one more")
        learned.unlink()
        world.run("pipeline.sh", folder, "--until-done", **program, RUN_UNTIL_DONE_PAUSE_SECONDS=0)
        expect_equal(learned.read_text(), "one more\0")
        learned.unlink()
        world.calls()


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


# A shell's environment in which a child that is asked to stop has ended before the shell looks at it again.
SLOW_KILL = {"BASH_FUNC_kill%%": '() { local status=0; builtin kill "$@" || status=$?; sleep 0.2; return $status; }'}


@case("run_until_done.sh")
def run_until_done(world):
    for folder in (NAME, DASH):
        world.stand_in("train_it", 'echo "\\"code\\": 3" >"$1/exit.json"; exit 1')
        (world.home / folder).mkdir()
        path = f"./{folder}"
        world.run("run_until_done.sh", folder, "--", "train_it", path, folder, code=3)
        expect_equal(world.calls(), [["train_it", path, folder]])
    world.stand_in("train_it", 'trap "exit 6" TERM; builtin kill -TERM $PPID; sleep 20 >/dev/null 2>&1 & wait')
    world.run("run_until_done.sh", NAME + "new", "--", "train_it", code=6, **SLOW_KILL)


@case("quickstart.sh")
def quickstart(world):
    made = 'while [[ $1 != --output ]]; do shift; done; mkdir -p "${2%/*}"; '
    for script in ("setup.sh", "build.sh"):
        world.stand_in(world.checkout / "scripts" / script)
    world.stand_in(world.checkout / ".venv/bin/python")
    world.stand_in(world.checkout / "build/release/bertpretrain")
    world.stand_in(world.checkout / "build/release/bertpretrain_data", made + 'if [[ $2 == *shards ]]; then mkdir -p "$2"; touch "$2/manifest.json"; '
                                                                            'else echo text >"$2"; fi')
    world.write(NAME, "a text")
    world.write(f"other/{NAME}", "another text")
    world.write(DASH, "words")
    output = str(world.home / f"{DASH}out")
    same = ["--text", NAME, "--vocabulary", DASH, "--output", f"{DASH}out"]

    def extracted():
        return [call[1:] for call in world.calls() if call[:2] == ["bertpretrain_data", "extract"]]

    world.run("quickstart.sh", *same)
    expect_equal(extracted(), [["extract", str(world.home / NAME), "--output", f"{output}/text.txt"]])
    expect_equal(pathlib.Path(f"{output}/vocab.txt").read_text(), "words")
    world.run("quickstart.sh", *same)
    expect_equal(extracted(), [])
    for change in (["--text", f"other/{NAME}"], ["--vocabulary", NAME]):
        message = world.run("quickstart.sh", *same, *change, code=2)
        expect("given now" in message and change[1].split("\n")[0] in message, message)
    world.write(NAME, "a longer text")
    world.run("quickstart.sh", *same, code=2)
    world.run("quickstart.sh", "--text", NAME)
    expect_equal(extracted()[0][3], f"quickstart/{NAME}/text.txt")
    world.run("quickstart.sh", "--text", f"other/{NAME}", code=2)
    expect_equal(extracted(), [])
    world.run("quickstart.sh")
    world.run("quickstart.sh", "--text", world.checkout / "data_tools/sample/encyclopaedia.xml", code=2)  # another size of the vocabulary


@case("get_wikipedia.sh")
def get_wikipedia(world):
    site = world.bin / "site/enwiki/20260101"
    site.mkdir(parents=True)
    dump = site / "enwiki-20260101-pages-articles.xml.bz2"
    dump.write_text("a dump")
    total = subprocess.run(["sha1sum", dump], capture_output=True, text=True, check=True).stdout.split()[0]
    (site / "enwiki-20260101-sha1sums.txt").write_text(f"{total}  {dump.name}\n")
    for folder in (NAME, DASH):
        for _ in range(2):  # the second call verifies the file
            world.run("get_wikipedia.sh", "--date", "20260101", "--from", f"file://{world.bin}/site", "--output", folder)
        expect_equal((world.home / folder / dump.name).read_text(), "a dump")
        (world.home / folder / dump.name).write_text("a damaged dump")
        world.run("get_wikipedia.sh", "--date", "20260101", "--from", f"file://{world.bin}/site", "--output", folder, code=3)


@case("list_runtime_packages.sh")
def list_runtime_packages(world):
    for name in (NAME, f"./{DASH}"):
        shutil.copy("/bin/ls", world.home / name)
        expect("libc6" in world.run("list_runtime_packages.sh", name).split(), "libc6 is not listed")


@case("list_skips.sh")
def list_skips(world):
    for name in (NAME, f"./{DASH}"):
        world.write(name, "limited instructions\ttest_x\ta case\ta reason\n")
        expect("skips: 1, 0 of them" in world.run("list_skips.sh", name), "the file was not read")


@case("list_namespaces.py")
def list_namespaces(world):
    world.write(f"{NAME}/MessagesXx.php", "$namespaceNames = [\n\tNS_TALK => 'Diskussion',\n];\n")
    expect("xx\t\t1=Diskussion" in world.run("list_namespaces.py", NAME, "1.0"), "the name is missing")


@case("sample_sentences.py")
def sample_sentences(world):
    world.write(NAME, "one two three four five six seven\n")
    expect_equal(world.run("sample_sentences.py", NAME, "--masked"), "one two three [MASK] five six seven\n")


@case("busy_tests.py")
def busy_tests(world):
    world.stand_in("ctest", 'echo "  Test #1: core"')
    world.stand_in(world.home / NAME / "test_core")
    expect("round 1 passed" in world.run("busy_tests.py", "--build", NAME, "--rounds", 1, "--busy", 0), "no round was run")
    expect(["ctest", "--test-dir", str(world.home / NAME), "-N", "-L", "^unit$"] in world.calls(), "the build folder")


@case("portable/write_wheel.py")
def write_wheel(world):
    for root in (NAME, f"./{DASH}"):
        world.write(f"{root}/bin/bertpretrain", "")
        world.write(f"{root}/share/{NAME}", "a page")
        world.run("portable/write_wheel.py", root, f"{root}out", "--version", "1.0", "--torch", "2.11")
        [wheel] = (world.home / f"{root}out").glob("*.whl")
        expect(f"bertpretrain-1.0.data/data/share/{NAME}" in zipfile.ZipFile(wheel).namelist(), "the page is missing")


@case("portable/bill_of_materials.py")
def bill_of_materials(world):
    for root in (NAME, f"./{DASH}"):
        world.write(f"{root}/parts.txt", "")
        world.write(f"{root}/lib/bertpretrain/libexpat.so.1", "")
        world.run("portable/bill_of_materials.py", root, "--torch", f"{root}/torch", "--version", "1.0")
        names = [part["name"] for part in json.loads((world.home / root / "SBOM.json").read_text())["components"]]
        expect("libexpat1-dev" in names, f"components: {names}")


def stand_in_for_training(world, folder, version, loss):
    """A bertpretrain that writes the numbers of one step, and the files of two checkpoints, into the folder after --output."""
    world.stand_in(world.home / folder / "bertpretrain_data")
    world.stand_in(world.home / folder / "bertpretrain", f"""
if [[ $1 == --version ]]; then echo "libtorch {version}"; exit; fi
while [[ $1 != --output ]]; do shift; done
for step in 30 60; do mkdir -p "$2/checkpoints/step_000000$step"; touch "$2/checkpoints/step_000000$step/"{{model,optimizer}}.pt; done
echo '{{"step":60,"samples":9,"loss":{loss},"mlm_loss":1,"grad_norm":2.5,"mfu":1}}' >"$2/metrics.jsonl"
echo "going on from step 30"
""")
    return world.home / folder / "bertpretrain"


@case("portable/compare_training.sh")
def compare_training(world):
    first, equal = stand_in_for_training(world, NAME, "1.0", 3.25), stand_in_for_training(world, DASH, "1.1", 3.25)
    found = world.run("portable/compare_training.sh", f"./{DASH}out", first.relative_to(world.home), equal)
    expect_equal(found.count("equal to libtorch 1.0; loss of step 60: 3.25"), 16)
    other = stand_in_for_training(world, f"{NAME}2", "1.2", 3.5)
    found = world.run("portable/compare_training.sh", f"./{DASH}out", other, code=1)
    expect("libtorch 1.2, fp32: step, loss and gradient norm of the reference: 60 3.25 2.5; loss of step 60: 3.5" in found, found)


@case("portable/lower_versions.py")
def lower_versions(world):
    for folder in (NAME, f"./{DASH}"):
        (world.home / folder).mkdir()
        shutil.copy("/bin/true", world.home / folder / NAME)
        expect("1 files need at most" in world.run("portable/lower_versions.py", folder), "the file was not read")


@case("portable/drop_library.py")
def drop_library(world):
    for name in (NAME, f"./{DASH}"):
        shutil.copy("/bin/true", world.home / name)
        world.run("portable/drop_library.py", name, "libc.so.6")
        expect("does not need" in world.run("portable/drop_library.py", name, "libc.so.6", code=1), "the library was not removed")


def send_numbers(world, script, package, module):
    world.write(f"{NAME}/run/plan.json", json.dumps({"data": {"x": {"value": 7}}}))
    world.write(f"modules/{package}.py", module)
    line = json.dumps({"step": 3, "loss": 2.5}) + "\n" + json.dumps({"event": "start"}) + "\n"
    sent = world.run(script, f"{NAME}/run", stdin=line, PYTHONPATH=world.home / "modules")
    for part in (str(world.home / NAME / "run"), "'loss': 2.5", "data.x", "start"):
        expect(repr(part)[1:-1] in sent or part in sent, f"{part!r} was not sent: {sent}")


@case("telemetry/to_wandb.py")
def to_wandb(world):
    send_numbers(world, "telemetry/to_wandb.py", "wandb", '''
import sys
class Run:
    summary = {}
    def log(self, values, step): print(values, step)
    def finish(self): print(self.summary, sys.argv[1] and __import__("os").path.abspath(sys.argv[1]))
def init(**settings):
    print(settings)
    return Run()
''')


@case("telemetry/to_mlflow.py")
def to_mlflow(world):
    send_numbers(world, "telemetry/to_mlflow.py", "mlflow", '''
class Experiment:
    experiment_id = 1
def set_experiment(name): return Experiment
def search_runs(*given, **settings): return []
def start_run(run_name, tags): print(tags["folder"])
def log_params(values): print(values)
def log_metrics(values, step): print(values, step)
def set_tag(name, value): print(name, value)
def end_run(): pass
''')


RECORD_EXIT = '''for last; do :; done
if [[ -n ${FOLDER-} ]]; then mkdir -p "$FOLDER"; echo '{"code": '"${CODE-2}"', "suspects": [
  "host": "'"${SUSPECT-}"'"
]}' >"$FOLDER/exit.json"; fi
exit "${STATUS-1}"'''


@case("launch/node.sh")
def node(world):
    world.stand_in("torchrun", RECORD_EXIT)
    world.stand_in("bertpretrain", "echo 1")
    for ways, folder in ((["--output", NAME], NAME), ([f"--output={NAME}"], NAME), (["--output", "x", f"--output={DASH}"], DASH),
                         ([f"--output={NAME}", "--output", "y"], "y"), ([], f"runs/{NAME}")):
        world.run("launch/node.sh", "train", f"{NAME}.json", *ways, code=2, FOLDER=f"./{folder}")
        [call] = [call for call in world.calls() if call[0] == "torchrun"]
        expect_equal(call[call.index("bertpretrain"):], ["bertpretrain", "train", f"{NAME}.json", *ways])
    world.run("launch/node.sh", "train", "a.json", code=2, FOLDER="runs/z", TRAIN_OPTIONS="--quiet\n--output=runs/z *")
    [call] = [call for call in world.calls() if call[0] == "torchrun"]
    expect_equal(call[call.index("bertpretrain"):], ["bertpretrain", "train", "a.json", "--quiet", "--output=runs/z", "*"])
    # A round of the loop: its training is another call of node.sh.
    world.stand_in("program", f"[[ $1 != config ]] || printf '%s=%q ' models {quoted(NAME)} data_training_shards s experiment e.json "
                              "evaluation_held_out_shards held ranks 1")
    world.run("launch/node.sh", "pipeline", DASH, code=4, BERTPRETRAIN=world.bin / "program", FOLDER=f"{NAME}/0001/run", CODE=4,
              RUN_UNTIL_DONE_PAUSE_SECONDS=0)
    expect(any(call[0] == "torchrun" for call in world.calls()), "nothing was trained")


@case("launch/local.sh")
def local(world):
    world.stand_in("torchrun", RECORD_EXIT)
    world.stand_in("bertpretrain", "echo 1")
    world.run("launch/local.sh", NAME, f"--output={NAME}", code=2, FOLDER=NAME)
    [call] = [call for call in world.calls() if call[0] == "torchrun"]
    expect_equal(call[call.index("bertpretrain"):], ["bertpretrain", "train", NAME, f"--output={NAME}"])


@case("launch/slurm.sh")
def slurm(world):
    job = {"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "2", "SLURM_NTASKS": "4"}
    world.stand_in("scontrol", 'echo "   Command=$SCRIPT a.json --output x"')
    world.stand_in("srun", "[[ $* != *preflight* ]] || exit 0\n[[ $* != *--exclude* ]] || exit 3\n" + RECORD_EXIT)
    spool = world.bin / "spool/slurm_script"  # as sbatch does it
    spool.parent.mkdir()
    shutil.copy(world.checkout / "scripts/launch/slurm.sh", spool)
    script = world.checkout / "scripts/launch/slurm.sh"
    for start in (script, spool):
        for ways, folder in ((["--output", NAME], NAME), (["--output", "x", f"--output={DASH}"], DASH)):
            done = subprocess.run(["bash", start, f"{NAME}.json", *ways], cwd=world.home, capture_output=True, text=True,
                                  env=world.environment({**job, "FOLDER": f"./{folder}", "SUSPECT": "node-b", "STATUS": "5", "SCRIPT": script}))
            expect(done.returncode == 3, f"exit code {done.returncode}: {done.stdout}{done.stderr}")
            calls = [call for call in world.calls() if call[0] == "srun"]
            expect_equal([call[call.index("bertpretrain"):] for call in calls],
                         [["bertpretrain", what, f"{NAME}.json", *ways] for what in ("preflight", "train", "train")])
            expect("--exclude=node-b" in calls[-1], "the wrong host is not left out")
    # The time limit: codes after which a restart cannot help are not queued again.
    world.stand_in("srun", 'trap "exit $CODE" USR2; builtin kill -USR1 $PPID; sleep 20 >/dev/null 2>&1 & wait')
    for code, again in ((2, False), (3, False), (4, False), (6, False), (0, False), (140, True), (5, True)):
        world.run("launch/slurm.sh", "a.json", code=0 if again else code, PREFLIGHT="no", CODE=code, SCRIPT=script, **job, **SLOW_KILL)
        expect_equal(any(call[:2] == ["scontrol", "requeue"] for call in world.calls()), again)
    # A round of the loop: its training is another call of slurm.sh.
    world.stand_in("srun", RECORD_EXIT)
    world.stand_in("program", f"[[ $1 != config ]] || printf '%s=%q ' models {quoted(NAME)} data_training_shards s experiment e.json "
                              "evaluation_held_out_shards held ranks 1")
    for start in (script, spool):
        done = subprocess.run(["bash", start, "--pipeline", NAME], cwd=world.home, capture_output=True, text=True,
                              env=world.environment({**job, "BERTPRETRAIN": world.bin / "program", "FOLDER": f"{NAME}/0001/run", "SCRIPT": script,
                                                     "CODE": 4, "STATUS": 4, "PREFLIGHT": "no", "RUN_UNTIL_DONE_PAUSE_SECONDS": 0}))
        expect(done.returncode == 4, f"exit code {done.returncode}: {done.stdout}{done.stderr}")
        expect(any(call[0] == "srun" for call in world.calls()), "nothing was trained")


@case("launch/fill.sh")
def fill(world):
    for name in (NAME, DASH):
        world.write(name, "a: ${CLUSTER} $HOME\n")
        expect_equal(world.run("launch/fill.sh", name, CLUSTER=NAME), f"a: {NAME} $HOME\n")


def passes_on(script, *first):
    """A case for a benchmark that builds its programs and starts Python: the arguments must arrive unchanged."""
    @case(script)
    def check(world):
        world.stand_in(world.checkout / ".venv/bin/python")
        for part in ("setup.sh", "build.sh"):
            world.stand_in(world.checkout / "scripts" / part)
        world.run(script, NAME, DASH)
        [call] = [call for call in world.calls() if call[0] == "python"]
        expect_equal(call[1:], [part.format(checkout=world.checkout) for part in first] + [NAME, DASH])


for name in ("checkpoint", "delayed_network", "device_step", "embed", "messages", "roofline", "step"):
    passes_on(f"benchmark/{name}.sh", f"{{checkout}}/scripts/benchmark/{name}.py")
passes_on("benchmark/certify.sh", "{checkout}/scripts/benchmark/certify/main.py")
passes_on("benchmark/first_light.sh", "-m", "first_light")


@case("benchmark/data.sh")
def data(world):
    world.stand_in(world.checkout / ".venv/bin/python", "exit 1")
    message = world.run("benchmark/data.sh", "tokenizer", NAME, code=1, BERTPRETRAIN_PROGRAMS=world.bin)
    expect_equal([pathlib.Path(call[1]).name for call in world.calls()], ["tokenizer.py", f"{NAME}.py"])
    expect(f"failed: tokenizer {NAME}" in message, message)


def train_for(script):
    """A case for a benchmark that trains in a folder: --output and the text may have any name."""
    @case(script)
    def check(world):
        for program in ("bertpretrain", "bertpretrain_data", "draw_curves", "print_sample_order"):
            world.stand_in(program)
        world.stand_in(world.checkout / ".venv/bin/python", "echo 1 2")
        text = world.write(NAME, "a text")
        for folder in (f"{NAME}out", f"{DASH}out"):
            world.run(script, "--output", folder, BERTPRETRAIN_PROGRAMS=world.bin, BENCHMARK_TEXT=text)
            calls = world.calls()
            trained = [call[call.index("--output") + 1] for call in calls if call[:2] == ["bertpretrain", "train"]]
            expect(trained and all(path.startswith(f"{world.home}/{folder}/") for path in trained), f"trained in {trained}")
            expect(any(call[:3] == ["bertpretrain_data", "shard", str(text)] for call in calls), "the text")


@case("benchmark/architectures.sh")
def architectures(world):
    world.stand_in("bertpretrain_data")
    world.stand_in(world.checkout / ".venv/bin/python")
    text = world.write(NAME, "a text")
    for folder in (f"{NAME}out", f"{DASH}out"):
        world.run("benchmark/architectures.sh", "--output", folder, BERTPRETRAIN_PROGRAMS=world.bin, BENCHMARK_TEXT=text)
        calls = world.calls()
        expect(any(call[:3] == ["bertpretrain_data", "shard", str(text)] for call in calls), "the text")
        [call] = [call for call in calls if call[0] == "python"]
        expect_equal(call[2:4], [f"{world.home}/{folder}", str(world.bin)])


train_for("benchmark/kernel_sets.sh")
train_for("benchmark/learning.sh")
train_for("benchmark/precision_learning.sh")


@case("benchmark/learning/make_shards.sh")
def make_shards(world):
    world.stand_in("bertpretrain_data")
    text = world.write(NAME, "a text")
    world.run("benchmark/learning/make_shards.sh", f"{NAME}out", BERTPRETRAIN_PROGRAMS=world.bin, BENCHMARK_TEXT=text)
    expect_equal([call[2] for call in world.calls()], [str(text)] * 2)


def scripts():
    """Returns all files of scripts/ that are run, not sourced or imported."""
    for file in sorted(PROJECT.glob("scripts/**/*")):
        if file.suffix in (".sh", ".py") and file.is_file() and not (file.suffix == ".py" and "benchmark" in file.parts):  # a .sh starts it
            text = file.read_text()
            if text.startswith("#!") or "__main__" in text:
                yield str(file.relative_to(PROJECT / "scripts"))


def main():
    problems, folder_of_help = [], tempfile.TemporaryDirectory()
    to_help = World(pathlib.Path(folder_of_help.name))
    prepare_help(to_help)
    asked = sys.argv[1:] or list(scripts())
    for script in asked:
        excepted = any(pathlib.PurePath(script).match(pattern) for pattern in EXCEPTIONS)
        if excepted == (script in CASES):
            problems.append(f"{script}: needs either a case or an exception in {pathlib.Path(__file__).name}")
        checks = ([] if script in WITHOUT_HELP else [lambda _: check_help(to_help, script)]) + ([CASES[script]] if script in CASES else [])
        for check in checks:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    check(World(pathlib.Path(folder)))
                except Exception as error:  # reports all failures
                    where = traceback.extract_tb(error.__traceback__)[-2:]
                    problems.append(f"{script}: {type(error).__name__} at line {[frame.lineno for frame in where]}: {error}")
    problems += [f"{script}: is no script, but has an entry" for script in CASES if not (PROJECT / "scripts" / script).exists()]
    problems += [f"{pattern}: is an exception without scripts" for pattern in EXCEPTIONS if not list((PROJECT / "scripts").glob(pattern))]
    folder_of_help.cleanup()
    print("\n".join(problems) or f"{len(asked)} scripts passed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
