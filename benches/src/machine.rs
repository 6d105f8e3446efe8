//! Describes the machine in one line. Only Linux provides everything.

use std::fs::read_to_string;

/// Processor with its family and model, cores, memory, kernel and the system's setting for huge pages, in one line.
///
/// ```
/// assert!(gather_benches::machine::describe().contains("cores"));
/// ```
#[must_use]
pub fn describe() -> String {
    let read = |path| read_to_string(path).unwrap_or_default();
    let processors = read("/proc/cpuinfo");
    // In some virtual machines the name leaves out the generation; family and model say it.
    let [processor, family, model] =
        ["model name", "cpu family", "model\t"].map(|name| field(&processors, name));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let memory = field(&read("/proc/meminfo"), "MemTotal");
    let kibibytes: Option<u64> = memory.split(' ').next().and_then(|number| number.parse().ok());
    let memory = kibibytes.map_or_else(unknown, |kibibytes| format!("{} GiB", (kibibytes + (1 << 19)) >> 20));
    let kernel = or_unknown(read("/proc/sys/kernel/osrelease").trim());
    let pages = read("/sys/kernel/mm/transparent_hugepage/enabled");
    let pages = or_unknown(pages.split(['[', ']']).nth(1).unwrap_or_default());
    let cache = or_unknown(read("/sys/devices/system/cpu/cpu0/cache/index3/size").trim());
    format!(
        "{processor} (family {family}, model {model}), {cores} cores, L3 {cache}, {memory} of memory, {} {kernel}, huge pages: {pages}",
        std::env::consts::OS
    )
}

fn field(text: &str, name: &str) -> String {
    let line = text.lines().find(|line| line.starts_with(name));
    or_unknown(line.and_then(|line| line.split_once(':')).map_or("", |(_, value)| value.trim()))
}

fn or_unknown(found: &str) -> String {
    if found.is_empty() { unknown() } else { found.to_owned() }
}

fn unknown() -> String {
    "unknown".to_owned()
}
