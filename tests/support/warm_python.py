"""Runs a Python program as `python` does, in a copy of a process that has imported PyTorch and transformers already.

Usage: warm_python.py PROGRAM.py|-|-c CODE ARGUMENTS...

Importing them takes up to ten seconds of processor time, and some seventy tests ask them. Under ctest (BERTPRETRAIN_TEST_SCRATCH) the
first call starts a server in that folder, which imports them once and forks for each call: the copy gets the caller's arguments,
folder, environment and standard files, computes with one thread, and ends with the caller. The server ends when ctest removes the
folder, at the latest two minutes after the last call. The interpreter itself runs the program outside of ctest, where a variable is set
that imports read (READ_BY_IMPORTS), and where the server does not answer.
"""

import fcntl
import importlib
import json
import os
import signal
import socket
import sys
import threading
from pathlib import Path

# Environment variables of callers that need an interpreter of their own.
READ_BY_IMPORTS = ("PYTHONPATH", "LD_PRELOAD", "ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS")
MODULES = ("torch", "h5py", "safetensors.torch", "sentencepiece", "transformers", "transformers.models.auto.modeling_auto",
           "transformers.models.auto.tokenization_auto", "transformers.models.bert.modeling_bert",
           "transformers.models.modernbert.modeling_modernbert", "transformers.models.roberta.modeling_roberta",
           "sentence_transformers")
LONGEST_ADDRESS = 107  # bytes, of a Unix socket
IDLE_SECONDS = 120


def run(program, arguments):
    """Runs a program in this process and returns its exit code."""
    import runpy
    import traceback

    try:
        if program == "-c":
            code, sys.argv, sys.path[0] = arguments[0], ["-c", *arguments[1:]], ""
        elif program == "-":
            code, sys.argv, sys.path[0] = sys.stdin.read(), ["-", *arguments], ""
        else:
            sys.argv, sys.path[0] = [program, *arguments], str(Path(program).resolve().parent)
            runpy.run_path(program, run_name="__main__")
            return 0
        main = type(sys)("__main__")
        sys.modules["__main__"] = main
        exec(compile(code, "<string>", "exec"), main.__dict__)
        return 0
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return (end.code or 0) & 255
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1


def answer(connection):
    """In the copy: becomes the caller's program, and sends its exit code."""
    message, files, _, _ = socket.recv_fds(connection, 1 << 20, 3)
    while not message.endswith(b"\n"):
        message += connection.recv(1 << 20)
    connection.sendall(b"s")  # from here on the program runs here or nowhere
    request = json.loads(message)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])

    def end_with_caller():
        connection.recv(1)
        os._exit(1)

    threading.Thread(target=end_with_caller, daemon=True).start()
    code = run(request["program"], request["arguments"])
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            code = code or 1
    connection.sendall(bytes([code]))
    os._exit(code)


def serve(listener, address):
    """Imports what tests ask, then forks for each caller."""
    import gc

    for module in MODULES:
        try:
            importlib.import_module(module)
        except ImportError:
            pass  # the program says which it lacks
    gc.freeze()  # a copy's collections would write to, and so copy, all pages
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no one waits for the copies
    listener.settimeout(1)
    idle = 0
    while idle < IDLE_SECONDS and os.path.exists(address):
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            idle += 1
            continue
        idle = 0
        connection.setblocking(True)
        if os.fork() == 0:
            listener.close()
            try:
                answer(connection)
            finally:
                os._exit(1)
        connection.close()


def start_server(address):
    """Starts a server, unless another call does so at this moment."""
    with open(address + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if connect(address) is not None:
            return
        Path(address).unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(address)
        listener.listen(64)  # callers wait here while it imports
        if os.fork() != 0:
            return
    os.setsid()
    os.chdir("/")  # it would keep the caller's folder busy
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    os.closerange(3, listener.fileno())
    environment = {name: value for name, value in os.environ.items() if name not in READ_BY_IMPORTS}
    environment.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", HF_HUB_OFFLINE="1")
    os.set_inheritable(listener.fileno(), True)
    os.execve(sys.executable, [sys.executable, __file__, "--serve", str(listener.fileno()), address], environment)


def connect(address):
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(address)
        return connection
    except OSError:
        return None


def call(address, program, arguments):
    """Returns the exit code of the program, run by the server; None where no server has started it."""
    connection = connect(address)
    if connection is None:
        start_server(address)
        connection = connect(address)
    if connection is None:
        return None
    request = {"program": program, "arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ)}
    message = json.dumps(request).encode() + b"\n"
    try:
        connection.sendall(message[socket.send_fds(connection, [message], [0, 1, 2]):])
        if not connection.recv(1):
            return None
    except OSError:
        return None
    code = connection.recv(1)
    return code[0] if code else 128 + signal.SIGABRT  # a signal ended the copy


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--serve":
        serve(socket.socket(fileno=int(sys.argv[2])), sys.argv[3])
        os._exit(0)
    scratch = os.environ.get("BERTPRETRAIN_TEST_SCRATCH", "")
    address = os.path.join(scratch, "warm_python")
    code = None
    if scratch and len(address) <= LONGEST_ADDRESS and not any(name in os.environ for name in READ_BY_IMPORTS):
        Path(scratch).mkdir(parents=True, exist_ok=True)
        code = call(address, sys.argv[1], sys.argv[2:])
    if code is None:
        os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
    sys.exit(code)
