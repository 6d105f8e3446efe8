"""The cases of an adapter as tests of pytest.

    pytest --gatherspec adapter.py
    pytest --gatherspec adapter.py --gatherspec-suite all -n 4 -m "torch.gather and bad-index"

or, so that `pytest` alone collects them, in pyproject.toml:

    [tool.pytest.ini_options]
    gatherspec = ["tests/adapter.py"]
    gatherspec_deviations = ["tests/deviations.yaml"]

Each case is a test `adapter.py::gatherspec/<case>`, with its operator, topic and basis as markers. A failure raises an exception
that is named after the verdict. A known deviation is a strict xfail.

The program `gatherspec judge` prepares the calls and judges the answers, over a pipe. The adapter answers in this process, so that
pdb and coverage reach it; with `--gatherspec-isolate`, and under pytest-xdist, in a process of its own, so that a crash costs
one test.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import threading
import types
from pathlib import Path
from typing import Any

import pytest

import gatherspec
from gatherspec._program import program

VERDICTS: dict[str, type[Failure]] = {}


class Failure(Exception):
    """A case that does not pass. Its class is named after the verdict: `WrongOutput`, `AcceptedBadInput`, `Crash` and so on."""

    @staticmethod
    def of(verdict: str, text: str) -> Failure:
        name = "".join(part.capitalize() for part in verdict.split("-"))
        return VERDICTS.setdefault(name, type(name, (Failure,), {"__module__": __name__}))(text)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gatherspec", "conformance of gathers")
    group.addoption(
        "--gatherspec", action="append", default=[], metavar="ADAPTER", help="run the cases of GatherSpec on this adapter"
    )
    group.addoption("--gatherspec-suite", choices=["smoke", "all"], help="which cases: smoke (the default) or all")
    group.addoption(
        "--gatherspec-deviations", action="append", default=[], metavar="FILE", help="YAML file with known deviations"
    )
    group.addoption(
        "--gatherspec-spec-add", metavar="DIR", help="add the operators of this folder, which is laid out like the specification"
    )
    group.addoption(
        "--gatherspec-isolate", action="store_true", help="run the adapter in a process of its own, as under xdist"
    )
    group.addoption(
        "--gatherspec-timeout", type=float, default=20.0, metavar="SECONDS", help="limit for a call of an isolated adapter"
    )
    parser.addini("gatherspec", "adapters to run the cases of GatherSpec on", type="paths", default=[])
    parser.addini("gatherspec_suite", "which cases: smoke or all", default="smoke")
    parser.addini("gatherspec_spec_add", "a folder with operators beside those of GatherSpec", type="paths", default=[])
    parser.addini("gatherspec_deviations", "YAML files with known deviations", type="paths", default=[])


def pytest_configure(config: pytest.Config) -> None:
    named = [str(Path(config.invocation_params.dir, one)) for one in config.getoption("gatherspec")]
    if named:
        given = config.args if config.args_source is pytest.Config.ArgsSource.ARGS else []
        folder = config.invocation_params.dir
        chosen = {str(folder / one.split("::")[0]) for one in given}
        config.args = [*given, *(one for one in named if one not in chosen)]


@pytest.hookimpl(hookwrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Any:
    """An adapter is no module of tests, even if it is named on the command line."""
    outcome = yield
    config = parent.config
    named = [Path(config.invocation_params.dir, one) for one in config.getoption("gatherspec")]
    if any(one.resolve() == file_path.resolve() for one in [*named, *config.getini("gatherspec")]):
        outcome.force_result([AdapterFile.from_parent(parent, path=file_path)])


class AdapterFile(pytest.File):
    """An adapter, with its cases."""

    judge: Judge
    again: list[str]

    def collect(self) -> Any:
        config = self.config
        isolated = config.getoption("gatherspec_isolate") or hasattr(config, "workerinput")
        limit = config.getoption("gatherspec_timeout")
        adapter = Child(self.path, limit) if isolated else Hosted(self.path)
        config.add_cleanup(adapter.close)
        suite = config.getoption("gatherspec_suite") or config.getini("gatherspec_suite")
        folder = config.invocation_params.dir
        deviations = [folder / one for one in config.getoption("gatherspec_deviations")]
        options = [f"--deviations={path}" for path in [*deviations, *config.getini("gatherspec_deviations")]]
        options += [] if suite == "all" else [f"--suite={suite}"]
        added = config.getoption("gatherspec_spec_add")
        options += [f"--spec-add={path}" for path in ([folder / added] if added else config.getini("gatherspec_spec_add"))]
        # What was said on the command line and a test needs to be found again.
        named = {"--gatherspec": config.getoption("gatherspec"), "--gatherspec-suite": config.getoption("gatherspec_suite")}
        words = [(name, one) for name, said in named.items() for one in ([said] if isinstance(said, str) else said or [])]
        self.again = ["pytest", *(word for pair in words for word in pair)]
        # In one word: pytest takes a folder that stands alone for one to find its root from, before it knows the option.
        self.again += [f"--gatherspec-spec-add={added}"] if added else []
        width = max(80, config.get_terminal_writer().fullwidth)
        self.judge = Judge(adapter, options, width)
        config.add_cleanup(self.judge.close)
        offer = self.judge.offer
        yield Declaration.from_parent(self, name="gatherspec/declaration", problems=offer["problems"])
        markers = {}
        for case in offer["cases"]:
            for kind in ("operator", "topic", "basis"):
                markers[case[kind]] = kind
        for name, kind in markers.items():
            config.addinivalue_line("markers", f"{name}: cases of this {kind} of GatherSpec")
        for case in offer["cases"]:
            yield Case.from_parent(self, name=f"gatherspec/{case['id']}", case=case)


class Declaration(pytest.Item):
    """Whether what the adapter declares is permitted by the documents, and known here."""

    def __init__(self, problems: list[str], **more: Any) -> None:
        super().__init__(**more)
        self.problems = problems

    def runtest(self) -> None:
        if self.problems:
            raise Failure.of("declaration", "\n".join(self.problems))

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name


class Case(pytest.Item):
    """A case, which passes if each of its runs does."""

    parent: AdapterFile

    def __init__(self, case: dict[str, Any], **more: Any) -> None:
        super().__init__(**more)
        self.case = case
        for kind in ("operator", "topic", "basis"):
            self.add_marker(case[kind])

    def runtest(self) -> None:
        answer = self.parent.judge.ask(self.case["id"])
        verdict = answer["verdict"]
        self.user_properties.append(("verdict", answer["observed"] or verdict))
        self.user_properties += [("clause", clause) for clause in answer["clauses"]]
        again = shlex.join([*self.parent.again, self.nodeid])
        lines = f"  show       gatherspec show {shlex.quote(answer['run'])}\n  reproduce  {again}"
        said = "[XPASS(strict)] unexpected-pass" if verdict == "unexpected-pass" else answer["observed"] or verdict
        text = f"{said}: {answer['run']}\n{answer['lines']}{lines}"
        if verdict == "known-deviation":
            known = Failure.of(answer["observed"], text)
            mark = pytest.mark.xfail(raises=type(known), reason=answer["reason"], strict=True)
            self.add_marker(mark)
            raise known
        if answer["is_failure"]:
            raise Failure.of(verdict, text)

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        return str(excinfo.value) if isinstance(excinfo.value, Failure) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name


class Judge:
    """`gatherspec judge`, which prepares calls and judges the answers."""

    def __init__(self, adapter: Hosted | Child, options: list[str], width: int) -> None:
        self.adapter = adapter
        command, environment = [program(), "judge", *options], {**os.environ, "COLUMNS": str(width)}
        pipe = subprocess.PIPE
        # In a session of its own: Ctrl-C is for the tests, and the program ends with its input.
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, start_new_session=True
        )
        self.offer = self._until("cases")

    def ask(self, case: str) -> dict[str, Any]:
        self._write(json.dumps({"ask": case}).encode())
        return self._until("verdict")

    def _until(self, key: str) -> dict[str, Any]:
        """Answers requests until there is a line with a key."""
        for line in self.process.stdout:
            message = json.loads(line)
            if key in message:
                return message
            self._write(self.adapter.reply(line))
        raise pytest.Collector.CollectError(self._last_words())

    def _write(self, line: bytes) -> None:
        try:
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise pytest.Collector.CollectError(self._last_words()) from None

    def _last_words(self) -> str:
        said = self.process.stderr.read().decode(errors="replace").strip()
        return said or f"gatherspec judge ended with status {self.process.wait()}"

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


class Hosted:
    """An adapter in this process."""

    def __init__(self, path: Path) -> None:
        sessions: list[gatherspec.Session] = []
        module = types.ModuleType("__main__")
        module.__file__ = str(path)
        arguments, sys.argv = sys.argv, [str(path)]
        # As for a script; what its functions import comes later.
        sys.path.insert(0, str(path.parent))
        gatherspec.Session.host = sessions.append
        try:
            exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
        except SystemExit as end:
            raise pytest.Collector.CollectError(f"{path} ended: {end}") from None
        finally:
            gatherspec.Session.host = None
            sys.argv = arguments
        if len(sessions) != 1:
            raise pytest.Collector.CollectError(f"{path} calls `gatherspec.serve` {len(sessions)} times instead of once")
        # Functions look up their globals in the module, as long as it lives.
        self.module, self.session = module, sessions[0]

    def reply(self, line: bytes) -> bytes:
        return json.dumps(self.session.reply(line)).encode()

    def close(self) -> None:
        pass


class Child:
    """An adapter in a process of its own, which is started again after a crash."""

    def __init__(self, path: Path, limit: float) -> None:
        self.path, self.limit = path, limit
        self.process: subprocess.Popen[bytes] | None = None
        self.start = b""

    def reply(self, line: bytes) -> bytes:
        message = json.loads(line)
        if message["cmd"] == "start":
            self.start = line
            self._begin()
            return self._answer(line, None) or self._ended("at its start")
        if self.process is None:
            self._begin()
            self._answer(self.start, None)
        answer = self._answer(line, self.limit)
        if answer:
            return answer
        late = self.late
        what = f"no answer within {self.limit:g} s" if late else self._ended("during the call")
        self.close()
        fault = "timeout" if late else "crash"
        return json.dumps({"seq": message["seq"], "invalid": what, "fault": fault}).encode()

    def _begin(self) -> None:
        # The package is this one, also for an interpreter that has it on its path for some other reason than its place.
        paths = [str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        command = [sys.executable, str(self.path)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def _answer(self, line: bytes, limit: float | None) -> bytes | None:
        """A line without its end; None if the process ends or is ended."""
        process, self.late = self.process, False

        def end() -> None:
            self.late = True
            process.kill()

        timer = threading.Timer(limit, end) if limit else None
        if timer:
            timer.start()
        try:
            process.stdin.write(line.rstrip(b"\n") + b"\n")
            process.stdin.flush()
            return process.stdout.readline().rstrip(b"\n") or None
        except BrokenPipeError:
            return None
        finally:
            if timer:
                timer.cancel()

    def _ended(self, when: str) -> Any:
        status = self.process.wait()
        how = f"signal {-status}" if status < 0 else f"status {status}"
        if when == "at its start":
            raise pytest.Collector.CollectError(f"{self.path} ended with {how} {when}")
        return f"the process ended with {how} {when}"

    def close(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None
