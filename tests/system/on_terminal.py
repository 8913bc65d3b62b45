"""on_terminal.py COLUMNS COMMAND...: runs a command on a pseudo-terminal, and prints as JSON its exit code, what it showed, and the lines that
a terminal of that width cannot show well: drawn lines that are too long to be redrawn, and tables with lines that would be wrapped."""
import fcntl
import json
import os
import pty
import re
import struct
import sys
import termios

CLEAR_LINE = "\r\x1b[K"


def output_of(columns, command):
    """Returns (exit code, everything that the command wrote)."""
    process, terminal = pty.fork()
    if process == 0:
        sys.stdin.readline()  # until the terminal has its size
        os.environ.pop("COLUMNS", None)
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.write(terminal, b"\n")
    output = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the command has closed the terminal
            break
        if not part:
            break
        output += part
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), output.decode(errors="replace").replace("\r\n", "\n")


def too_wide(columns, text):
    """Returns the drawn lines that fill the terminal, and the lines of tables that are wider. A table has a line of dashes; sentences that
    follow it have no two blanks."""
    lines = text.split("\n")
    wide = [drawn for line in lines for drawn in line.split(CLEAR_LINE)[1:] if len(drawn) >= columns]
    for number, line in enumerate(lines):
        if not re.fullmatch("-+(  -+)*", line):
            continue
        end = next((n for n in range(number, len(lines)) if not lines[n]), len(lines))
        rows = [row.split(CLEAR_LINE)[-1] for row in lines[max(0, number - 1):end]]  # the first may follow a drawn line
        wide += [row for row in rows if len(row) > columns and "  " in row.strip()]
    return wide


def main():
    columns, command = int(sys.argv[1]), sys.argv[2:]
    code, text = output_of(columns, command)
    print(json.dumps({"code": code, "text": text, "drawn": text.count(CLEAR_LINE), "wide": too_wide(columns, text)}))


main()
