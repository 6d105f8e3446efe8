//! Finds the report of a sanitizer, or of valgrind, in standard error. Such a tool may let the process
//! continue with replies that look right.

use crate::words;

/// How much of a line to look at, in bytes.
const LINE: usize = 1024;

/// The sanitizers of compilers.
const SANITIZERS: [&str; 5] =
    ["AddressSanitizer", "HWAddressSanitizer", "LeakSanitizer", "MemorySanitizer", "ThreadSanitizer"];

/// Looks at each line of a stream.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    /// The beginning of the line that has not ended yet.
    line: Vec<u8>,
    /// The first line of the first report that was not taken.
    report: Option<String>,
}

impl Scanner {
    /// Reads the next bytes of the stream.
    pub(super) fn read(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LINE.saturating_sub(self.line.len()).min(part.len());
            self.line.extend_from_slice(&part[..room]);
            if part.ends_with(b"\n") {
                let line = String::from_utf8_lossy(&self.line);
                if self.report.is_none() && begins_report(line.trim()) {
                    self.report = Some(words::name(without_process(line.trim())));
                }
                self.line.clear();
            }
        }
    }

    /// Takes the first line of a report.
    pub(super) const fn take_report(&mut self) -> Option<String> {
        self.report.take()
    }
}

/// The line without the number of the process, which differs from run to run.
fn without_process(line: &str) -> &str {
    let line = after_process(line).unwrap_or(line).trim_start();
    line.rsplit_once(" (pid=").map_or(line, |(said, _)| said)
}

/// Whether a sanitizer's or valgrind's report begins with this line.
fn begins_report(line: &str) -> bool {
    let after_process = after_process(line);
    let by_name = |said: &str| {
        let said = said.strip_prefix("ERROR: ").or_else(|| said.strip_prefix("WARNING: "));
        said.is_some_and(|said| SANITIZERS.iter().any(|name| said.strip_prefix(name).is_some_and(is_end)))
    };
    // ThreadSanitizer names the process at the end of the line.
    by_name(after_process.unwrap_or(line))
        || after_process.is_some_and(|said| {
            let said = said.trim_start();
            said.starts_with("Invalid read of size ") || said.starts_with("Invalid write of size ")
        })
        || is_undefined_behaviour(line)
}

fn is_end(rest: &str) -> bool {
    rest.starts_with(':')
}

/// What follows `==1234==`.
fn after_process(line: &str) -> Option<&str> {
    let (id, said) = line.strip_prefix("==")?.split_once("==")?;
    (!id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit())).then_some(said)
}

/// Whether a line is of the form `kernel.c:12:9: runtime error: …`. A panic of Go is a runtime error too, but
/// without a line and a column.
fn is_undefined_behaviour(line: &str) -> bool {
    let Some((place, _)) = line.split_once(": runtime error: ") else { return false };
    let mut parts = place.rsplit(':');
    let is_number = |part: Option<&str>| {
        part.is_some_and(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    is_number(parts.next()) && is_number(parts.next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_distinguished_from_other_texts() {
        for (line, is_report) in [
            ("==71==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x5020 at pc 0x55", true),
            ("==71==ERROR: LeakSanitizer: detected memory leaks", true),
            ("==71==WARNING: MemorySanitizer: use-of-uninitialized-value", true),
            ("WARNING: ThreadSanitizer: data race (pid=71)", true),
            ("src/take.c:12:9: runtime error: signed integer overflow: 2147483647 + 1", true),
            ("==71== Invalid read of size 8", true),
            ("==71== Invalid write of size 1", true),
            ("==71== Memcheck, a memory error detector", false),
            ("==71==AddressSanitizer: failed to intercept 'crypt'", false),
            ("panic: runtime error: index out of range [5] with length 3", false),
            ("ERROR: AddressSanitizerless build", false),
            ("====ERROR: AddressSanitizer: of no process", false),
        ] {
            assert_eq!(begins_report(line), is_report, "{line}");
        }
    }

    #[test]
    fn a_report_is_the_same_whatever_the_number_of_the_process() {
        for (line, said) in [
            (
                "==71==ERROR: LeakSanitizer: detected memory leaks",
                "ERROR: LeakSanitizer: detected memory leaks",
            ),
            ("==71== Invalid read of size 8", "Invalid read of size 8"),
            ("WARNING: ThreadSanitizer: data race (pid=71)", "WARNING: ThreadSanitizer: data race"),
        ] {
            assert_eq!(without_process(line), said);
        }
    }

    #[test]
    fn a_report_is_found_wherever_the_stream_is_cut_and_taken_once() {
        let text = "noise\n=====\n==71==ERROR: AddressSanitizer: heap-use-after-free\n==71==ERROR: LeakSanitizer: x\n";
        for cut in 0..text.len() {
            let mut scanner = Scanner::default();
            scanner.read(&text.as_bytes()[..cut]);
            scanner.read(b"");
            scanner.read(&text.as_bytes()[cut..]);
            let said = Some("ERROR: AddressSanitizer: heap-use-after-free".to_owned());
            assert_eq!((scanner.take_report(), scanner.take_report()), (said, None), "{cut}");
        }
        let mut flood = Scanner::default();
        flood.read(&vec![b'x'; 10 << 20]);
        assert_eq!(flood.line.len(), LINE);
    }
}
