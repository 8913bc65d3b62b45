"""Stage `tests`: runs test_gpu with CUDA_LAUNCH_BLOCKING=1, so that a kernel's fault appears in the test that launched it."""
import re
import xml.etree.ElementTree as ElementTree

from programs import PROJECT, program, programs_folder

from .stage import FAILED, PASSED, TIMED_OUT, UNAVAILABLE, Result, block, table



def environment():
    """Returns the variables for synchronous launches and for the paths of programs and files. The portable archive's launcher sets
    the paths itself."""
    variables = {"CUDA_LAUNCH_BLOCKING": "1"}
    if any(programs_folder().glob("libbertpretrain_*.so")):
        variables |= {"BERTPRETRAIN_TEST_PROJECT": str(PROJECT), "BERTPRETRAIN_TEST_PROGRAMS": str(programs_folder())}
    return variables


def verdicts(xml):
    """Returns [{"name", "verdict": passed, failed, skipped or unfinished, "seconds", "message"}] from Catch2's XML, which may be
    truncated."""
    found = []
    for text in re.split(r"(?=<TestCase )", xml)[1:]:
        name = re.match(r'<TestCase name="([^"]*)"', text)
        whole = re.match(r".*?</TestCase>", text, re.DOTALL)
        case = {"name": ElementTree.fromstring(f"<a>{name[1]}</a>").text, "verdict": "unfinished", "seconds": 0, "message": ""}
        if whole:
            element = ElementTree.fromstring(whole[0])
            overall = element.find("OverallResult")
            warnings = " ".join((warning.text or "").strip() for warning in element.iter("Warning"))
            passed = overall is not None and overall.get("success") == "true"
            case["seconds"] = float(overall.get("durationInSeconds", 0)) if overall is not None else 0
            case["verdict"] = "failed" if not passed else "skipped" if "skipped" in warnings else "passed"
            case["message"] = warnings if passed else messages(element)
        found.append(case)
    return found


def messages(element):
    """Returns the messages of a failed test: its expressions with their values, exceptions and fatal errors."""
    texts = [" ".join((part.text or "").split()) for part in element.iter()
             if part.tag in ("Expanded", "Exception", "FatalErrorCondition", "Info", "Failure")]
    return "; ".join(texts)[:1500]


def run_again(stage, failed):
    """Runs each failed test alone and records its verdict, because a fault may also break later tests of the same process."""
    for case in failed:
        if stage.remaining() < 10:
            break
        name = case["name"].replace(",", "\\,").replace("[", "\\[")
        done = stage.run([program("test_gpu"), name, "-r", "xml", "-d", "yes"], "alone", **environment())
        alone = next(iter(verdicts(done.output)), None)
        case["alone"] = alone["verdict"] if alone else done.status
        if alone and alone["message"]:
            case["message"] = alone["message"]


def run(stage):
    done = stage.run([program("test_gpu"), "-r", "xml", "-d", "yes"], "test_gpu", **environment())
    if done.not_built:
        return Result(UNAVAILABLE, done.tail(2).splitlines()[0])
    cases = verdicts(done.output)
    failed = [case for case in cases if case["verdict"] in ("failed", "unfinished")]
    run_again(stage, failed)
    count = {verdict: sum(case["verdict"] == verdict for case in cases) for verdict in ("passed", "failed", "skipped", "unfinished")}
    status = TIMED_OUT if done.code is None else FAILED if failed or not cases or done.code != 0 else PASSED
    if stage.on_gpu and count["skipped"]:
        status = FAILED  # otherwise a missing GPU library would look like success
    rows = [(case["name"], case["verdict"] + (f", alone {case['alone']}" if "alone" in case else ""), f"{case['seconds']:.2f}",
             case["message"].replace("|", "/")) for case in cases]
    text = table(("test", "verdict", "seconds", "message"), rows) + (block(done.tail()) if status != PASSED else "")
    return Result(status, ", ".join(f"{number} {verdict}" for verdict, number in count.items() if number) or "no test ran",
                  {"tests": cases, "counts": count}, text)

