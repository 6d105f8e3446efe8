"""Runs exported folders of ONNX: `python onnx_folders.py FOLDER ort|tract|reference|runner`. `ort` is ONNX Runtime, `tract`
the package of that name, `reference` the evaluator that comes with ONNX, and `runner` is ONNX's own runner of such folders with that
evaluator. The first three compare bits; the runner takes -0.0 for 0.0 and every NaN for every other. Each model must pass ONNX's checker. Prints what does not pass, and ends with
status 1 if that is more than is known."""

import ctypes
import json
import os
import re
import signal
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

import numpy
import onnx
from onnx import TensorProto, numpy_helper

# GatherElements of the evaluator; see `backends/onnx-reference/deviations.yaml`.
OF_THE_EVALUATOR = {
    "Except for dimension -": "have a negative axis, which is compared with the shapes as it is",
    "at most 64 array objects|cannot reshape array|is out of bounds for axis|zip\\(\\) argument|gatherelements_.*: gives":
        "have 64 choices or more for numpy.choose",
    "output_bytes_.*: ends its process by signal 14": "do not end within 20 seconds",
}
# What is known to fail: what stands in the name of a folder or in what is wrong, and why.
KNOWN = {
    "ort": {
        r"MLDataType for: tensor\(complex": "have complex numbers, which ONNX Runtime has not",
        r"_gather_.*: gives object": "get the first string of each slice, and empty ones",
    },
    "tract": {
        "DatumType|elem_type: (Complex|Bfloat)|ObjectDType": "have complex numbers, bf16 or strings, which the package has not",
        "gathernd_.*: ends its process by signal 6": "have a negative index of GatherND, which ends the process",
        "output_bytes_.*: ends its process by signal 14": "do not end within 20 seconds",
        "_constants: gives float.*nan": "get another NaN where all operands are constants",
    },
    "reference": OF_THE_EVALUATOR,
    "runner": OF_THE_EVALUATOR,
}


def tensor(path):
    read = TensorProto()
    read.ParseFromString(path.read_bytes())
    return read


def bits(array):
    """What two equal results have in common."""
    data = array.ravel().astype(str).tolist() if array.dtype.kind in "OUST" else array.tobytes()
    return array.shape, None if array.dtype.kind in "OUST" else array.dtype, data


def reference(model):
    from onnx.reference import ReferenceEvaluator

    return lambda values: ReferenceEvaluator(model).run(None, values)[0]


def ort(model):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])

    def value(array):
        of_bits = array.dtype == "bfloat16"
        make = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type
        return make(array.view("u2"), TensorProto.BFLOAT16) if of_bits else onnxruntime.OrtValue.ortvalue_from_numpy(array)

    def run(values):
        if session.get_outputs()[0].type != "tensor(bfloat16)":
            return session.run(None, values)[0]
        output = session.run_with_ort_values(None, {name: value(array) for name, array in values.items()})[0]
        data = ctypes.string_at(output.data_ptr(), output.tensor_size_in_bytes())
        return numpy.frombuffer(data, onnx.helper.tensor_dtype_to_np_dtype(TensorProto.BFLOAT16)).reshape(output.shape())

    return run


def tract(model):
    import tract as library

    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        Path(file.name).write_bytes(model.SerializeToString())
        runnable = library.onnx().load(file.name).into_model().into_runnable()
    return lambda values: runnable.run([*values.values()])[0].to_numpy()


MAKERS = {"ort": ort, "tract": tract, "reference": reference}


def failure(folder, make):
    """What is wrong with the result of a folder; None if it is as expected."""
    model = onnx.load(folder / "model.onnx")
    onnx.checker.check_model(model, full_check=True)
    data = folder / "test_data_set_0"
    inputs = [numpy_helper.to_array(tensor(path)) for path in sorted(data.glob("input_*.pb"))]
    expected = numpy_helper.to_array(tensor(data / "output_0.pb"))
    try:
        found = numpy.asarray(make(model)(dict(zip((one.name for one in model.graph.input), inputs))))
    except Exception as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return None if bits(found) == bits(expected) else f"gives {found.dtype} {found.shape} {found.ravel()[:8].tolist()}"


def isolated(root, names, make):
    """What is wrong with each folder, in processes that a library may end, and that end after 20 seconds at one folder."""
    wrong, at = {}, 0
    while at < len(names):
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            for name in names[at:]:
                signal.alarm(20)
                os.write(writer, json.dumps(failure(root / name, make)).encode() + b"\n")
            os._exit(0)
        os.close(writer)
        with open(reader) as answers:
            for line in answers:
                wrong[names[at]] = json.loads(line)
                at += 1
        status = os.waitpid(child, 0)[1]
        if os.WIFSIGNALED(status):
            wrong[names[at]] = f"ends its process by signal {os.WTERMSIG(status)}"
            at += 1
    return wrong


def by_runner(root, names):
    """How many folders ONNX's own runner runs, and what fails, by the name of the folder."""
    from onnx.backend.test import loader
    from onnx.backend.test.runner import Runner
    from onnx.reference import ReferenceEvaluator
    from onnx.backend.base import Backend, BackendRep

    class Rep(BackendRep):
        def __init__(self, model):
            self.evaluator = ReferenceEvaluator(model)

        def run(self, inputs, **_):
            return self.evaluator.run(None, dict(zip(self.evaluator.input_names, inputs)))

    class Evaluator(Backend):
        prepare = classmethod(lambda cls, model, device="CPU", **_: Rep(model))
        supports_device = classmethod(lambda cls, device: device == "CPU")

    tests = loader.load_model_tests(data_dir=str(root.parent), kind=root.name)
    runner = Runner(Evaluator, __name__)
    for test in tests:
        runner._add_model_test(test, "Real")
    # It brings the tests of ONNX, too.
    name_of = lambda test: test.id().rsplit(".", 1)[-1].removesuffix("_cpu")
    cases = runner.test_cases.values()
    chosen = [test for case in cases for test in unittest.defaultTestLoader.loadTestsFromTestCase(case) if name_of(test) in names]
    result = unittest.TestResult()
    unittest.TestSuite(chosen).run(result)
    wrong = {name_of(test): text.strip().splitlines()[-1] for test, text in result.failures + result.errors}
    return result.testsRun - len(result.skipped), wrong


def main(root, which):
    root = Path(root).resolve()
    names = [test["name"] for test in json.loads((root / "manifest.json").read_text())["tests"]]
    if which == "runner":
        ran, wrong = by_runner(root, set(names))
    else:
        made = isolated(root, names, MAKERS[which])
        ran, wrong = len(names), {name: why for name, why in made.items() if why}
    reason_of = lambda name: next((why for of, why in KNOWN[which].items() if re.search(of, f"{name}: {wrong[name]}")), None)
    reasons = Counter(map(reason_of, wrong))
    new = [name for name in wrong if reason_of(name) is None]
    for name in new[:50]:
        print(f"{name}: {wrong[name][:200]}")
    known = ", ".join(f"{count} {why}" for why, count in reasons.items() if why)
    print(f"{which}: {ran - len(wrong)} of {len(names)} folders pass; known: {known or 'nothing'}; new: {len(new)}")
    return int(bool(new) or ran != len(names))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
