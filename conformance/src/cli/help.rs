//! What stands below the options of every `--help`: examples, exit statuses, and where caches lie.

/// Joins the examples of a command with its exit statuses.
macro_rules! page {
    ($examples:literal, $($part:expr),+ $(,)?) => {
        concat!("Examples:\n", $examples, $("\n\n", $part),+)
    };
}

/// The statuses of a command that reads and prints.
macro_rules! plain {
    () => {
        "Exit status:\n  0  done\n  2  wrong usage, or a file that cannot be read or written"
    };
}

/// Where adapters keep what they install.
macro_rules! caches {
    () => {
        "Caches:\n  Adapters install their libraries once, in `gatherspec` below $XDG_CACHE_HOME, else ~/.cache, else\n  \
         %LOCALAPPDATA%. Remove that folder to clear them: rm -r ~/.cache/gatherspec"
    };
}

pub(super) const TOP: &str = page!(
    "  gatherspec                                    the whole suite on the built-in backends
  gatherspec run --backend numpy                an adapter, installed on first use
  gatherspec run -- ./my-backend                a program that answers the backend protocol
  gatherspec run --library ./libmine.so         a shared library
  gatherspec show tf.gather.axis.default-first  a clause, with its rulings and cases",
    "Exit status:
  0  everything conforms
  1  something does not conform, or was found
  2  wrong usage, a file that cannot be read or written, or nothing was tested
  3  a backend could not be started, or declares nothing that can be tested",
    caches!(),
);

pub(super) const RUN: &str = page!(
    "  gatherspec run --backend numpy --backend pytorch
  gatherspec run --suite smoke -- python3 adapter.py
  gatherspec run --failed -v -- ./my-backend
  gatherspec run --clause 'tf.gather.axis.*' --fail-fast --library ./libmine.so
  gatherspec run --baseline main/report.json --out report -- ./my-backend
  gatherspec run --spec-add own -- python3 pick.py",
    "Exit status:
  0  everything conforms; with --baseline: nothing fails that did not fail there
  1  something does not conform
  2  wrong usage, a file that cannot be read or written, or nothing was tested
  3  a backend could not be started, or declares nothing that can be tested",
    caches!(),
);

pub(super) const INIT: &str = page!(
    "  gatherspec init pytest
  gatherspec init c --out my-kernel",
    plain!(),
);

pub(super) const EXPORT: &str = page!(
    "  gatherspec export --format onnx --out onnx
  gatherspec export --format stablehlo --suite smoke --out modules
  gatherspec export --format json --operator 'torch.*' --out cases",
    plain!(),
);

pub(super) const LIST: &str = page!(
    "  gatherspec list cases --operator tf.gather
  gatherspec list cases --cases my-cases.yaml
  gatherspec list clauses --basis documented --format json
  gatherspec list backends",
    plain!(),
);

pub(super) const SHOW: &str = page!(
    "  gatherspec show tf.gather_nd/documented/rows-of-a-matrix
  gatherspec show tf.gather_nd.shape.slices
  gatherspec show --cases found my.operator/found/a-case
  gatherspec show torch.gather --format json
  gatherspec show numpy:
  gatherspec show 'numpy:numpy.take/bad-index/largest-i64[wrap]'",
    plain!(),
);

pub(super) const ASK: &str = page!(
    "  gatherspec ask 'torch.gather([[1, 2], [3, 4]], dim=1, index=[[0, 0], [1, 0]])' --backend pytorch
  gatherspec ask 'tf.gather([10, 20, 30], [2, -1])' --backend optimized --backend numpy",
    "Exit status:
  0  every backend conforms
  1  one does not
  2  wrong usage, or an error in the call
  3  a backend does not start",
    caches!(),
);

pub(super) const SERVE: &str = page!(
    "  gatherspec serve reference
  gatherspec run -- gatherspec serve optimized --bad zero",
    "Exit status:
  0  the client sent `stop` or closed the input
  2  wrong usage, or input that cannot be read",
);

pub(super) const FUZZ: &str = page!(
    "  gatherspec fuzz --backend optimized --time 60 --save found
  gatherspec fuzz --backend numpy --laws --cases 3000
  gatherspec fuzz --shard 3/8 --cases 1000000 --report 3.json -- ./my-backend",
    "Exit status:
  0  nothing found
  1  something was found
  2  wrong usage, or a file that cannot be read or written
  3  the backend could not be started",
    caches!(),
);

pub(super) const BENCH: &str = page!(
    "  gatherspec bench --backend optimized --backend numpy
  gatherspec bench --workload 'rows-*' --backend pytorch",
    "Exit status:
  0  every output is right; what was not timed is listed
  1  an output is wrong, or a backend changed its inputs
  2  wrong usage, or a file that cannot be read or written
  3  a backend could not be started, ended early, or claimed durations that cannot be",
    caches!(),
);

pub(super) const MERGE: &str = page!(
    "  gatherspec merge 1.json 2.json 3.json --out whole.json",
    "Exit status:
  0  the shards found nothing
  1  some shard found something
  2  wrong usage, a report that is missing or of another campaign, or a file that cannot be read or written",
);

pub(super) const CHECK: &str = page!(
    "  gatherspec check my-cases.yaml
  gatherspec check --spec spec spec/operators/tf/gather/clauses.yaml
  gatherspec check --document tf-gather-nd-2.0 page.txt",
    "Exit status:
  0  nothing is wrong
  1  something is wrong, or the document has changed
  2  wrong usage, or a file that cannot be read",
);

pub(super) const MUTANTS: &str = page!(
    "  gatherspec mutants --operator tf.gather_nd
  gatherspec mutants --suite smoke --format json",
    "Exit status:
  0  every mutant is caught
  1  some mutant is not caught
  2  wrong usage",
);

pub(super) const COMPLETIONS: &str = page!(
    "  gatherspec completions bash > ~/.local/share/bash-completion/completions/gatherspec
  gatherspec completions zsh > ~/.zfunc/_gatherspec
  gatherspec completions fish > ~/.config/fish/completions/gatherspec.fish",
    plain!(),
);

pub(super) const HEADER: &str = page!(
    "  gatherspec header > gatherspec.h
  cc -O2 -shared -fPIC -I . -o libmine.so mine.c",
    plain!(),
);

pub(super) const MAN: &str = page!(
    "  gatherspec man | man -l -
  gatherspec man run | man -l -
  gatherspec man --out ~/.local/share/man/man1",
    plain!(),
);
