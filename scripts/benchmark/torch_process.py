"""A PyTorch process that runs tasks one after another, so that PyTorch and transformers are imported once, and not once per side
and round. torch_step.py describes the tasks."""
import json
import pathlib
import queue
import subprocess
import sys
import threading

from training_runs import SideFailed


class TorchProcess:
    """Starts the process and returns at once; the first task waits until the process is ready."""

    def __init__(self):
        self.process = subprocess.Popen([sys.executable, str(pathlib.Path(__file__).with_name("torch_step.py"))],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answers = queue.Queue()
        threading.Thread(target=self._read, args=(self.process.stdout, self.answers), daemon=True).start()

    @staticmethod
    def _read(lines, answers):
        for line in lines:
            answers.put(json.loads(line))
        answers.put({"error": "the PyTorch process ended"})

    def ask(self, task, limit=None):
        """Runs a task and returns its answer, as torch_step.py describes it. Raises SideFailed if the task fails or takes longer than
        `limit` seconds; in the second case the process is restarted for the next task."""
        try:
            print(json.dumps(task), file=self.process.stdin, flush=True)
            answer = self.answers.get(timeout=limit)
        except (queue.Empty, BrokenPipeError):
            self.close()
            self.__init__()
            raise SideFailed(f"{task['way']}: no answer from PyTorch within {limit} s") from None
        if "error" in answer:
            raise SideFailed(f"{task['way']}: {answer['error']}")
        return answer

    def close(self):
        self.process.kill()
        self.process.wait()
