//! The page of a small run that was made up.

use super::super::{comparison, summary};
use super::*;

/// Two workloads, one of which a peer has, and a backend whose name is markup.
const RECORD: &str = r#"{"schema":1,"version":"0.1.0","machine":"2 cores & more","threads":2,"turns":3,"rounds":2,
"min_round_ns":1,"backends":[
{"name":"optimized","identity":{"name":"optimized","version":"1","language":"Rust"}},
{"name":"<b>peer</b>","identity":{"name":"peer","version":"2","language":"C"}},
{"name":"absent","identity":{"name":"absent","version":"3","language":""}}],
"workloads":[
{"id":"rows","output_bytes":4000,"timed":[
{"output":"fresh","floor":{"median":500,"quartiles":[500,500],"all":[500]},"backends":[
{"backend":"optimized","durations":{"median":1000,"quartiles":[900,1100],"all":[1000]}},
{"backend":"<b>peer</b>","operator":"x","durations":{"median":4000,"quartiles":[4000,4000],"all":[4000]}},
{"backend":"absent","left_out":"it has <no> such call"}]},
{"output":"into","floor":{"median":500,"quartiles":[500,500],"all":[500]},"backends":[
{"backend":"optimized","durations":{"median":250,"quartiles":[250,250],"all":[250]}},
{"backend":"<b>peer</b>","left_out":"no"},{"backend":"absent","left_out":"it has <no> such call"}]}]},
{"id":"points","output_bytes":4000,"timed":[
{"output":"fresh","floor":{"median":500,"quartiles":[500,500],"all":[500]},"backends":[
{"backend":"optimized","durations":{"median":1000,"quartiles":[1000,1000],"all":[1000]}},
{"backend":"<b>peer</b>","durations":{"median":500,"quartiles":[500,500],"all":[500]}},
{"backend":"absent","left_out":"no"}]}]}]}"#;

fn record() -> Record {
    Record::parse(RECORD).expect("a record")
}

#[test]
fn a_record_is_read_as_it_is_written() {
    let written = serde_json::to_string(&record()).expect("plain data");
    assert_eq!(
        serde_json::to_string(&Record::parse(&written).expect("a record")).expect("plain data"),
        written
    );
    let later = RECORD.replacen("\"schema\":1", "\"schema\":2", 1);
    assert_eq!(
        Record::parse(&later).err(),
        Some("schema 2 is unknown: this program reads schema 1".to_owned())
    );
    assert!(Record::parse("[]").is_err());
}

#[test]
fn each_kind_of_memory_has_a_plot_of_ratios() {
    let record = record();
    let plots = Plot::all(&record);
    let bars = |plot: &Plot<'_>| {
        let of = |group: &plot::BarGroup<'_>| {
            let bars = group.bars.iter().map(|bar| format!("{} {} {}", group.workload, bar.name, bar.ratio));
            bars.collect::<Vec<_>>()
        };
        plot.groups.iter().flat_map(of).collect::<Vec<_>>()
    };
    let [fresh, reused] = &plots[..] else { panic!("{plots:?}") };
    assert_eq!((fresh.memory, reused.memory), ("fresh", "reused"));
    let expected =
        ["rows <b>peer</b> 4.00", "rows floor 0.50", "points <b>peer</b> 0.50", "points floor 0.50"];
    assert_eq!(bars(fresh), expected);
    assert_eq!(bars(reused), ["rows floor 2.00"]);
    assert_eq!(
        fresh.sentence,
        "The fastest other backend takes 1.41 times as long in the geometric mean of 2 workloads: at least 1.2 times in 1, and \
         less time in 1."
    );
    assert_eq!(reused.sentence, "No other backend takes part.");
    let lowest = fresh.groups.iter().flat_map(|group| &group.bars).map(|bar| bar.y + fresh.bar).max();
    assert!(lowest.is_some_and(|lowest| lowest <= fresh.height), "bars lie within the plot");
}

#[test]
fn the_page_has_every_figure_and_no_markup_of_backends() {
    let page = page(&record());
    for cell in ["4.00 µs ±0 %", "1.00 µs ±10 %", "best peer / optimized", "2 cores &#38; more"] {
        assert!(page.contains(cell), "{cell} in {page}");
    }
    assert!(!page.contains("<b>") && page.contains("&#60;b&#62;peer&#60;/b&#62; takes 4.00 times as long"));
    assert_eq!(page.matches("it has &#60;no&#62; such call").count(), 1, "each reason once");
    assert!(!page.contains("<script") && !page.contains("style=") && !page.contains("http://"));
    assert_eq!(page.matches("role=\"img\"").count(), 2);
}

/// `gatherspec bench --from benches/results/A.json --from benches/results/B.json …` prints the comparison again.
#[test]
fn the_comparison_in_benches_shows_what_its_records_hold() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../benches/results");
    let files = std::fs::read_dir(folder).expect("a folder of the repository");
    let mut paths: Vec<_> = files.map(|file| file.expect("its files are listed").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let text = |path: &std::path::Path| std::fs::read_to_string(path).expect("a file of the repository");
    let records: Vec<Record> =
        paths.iter().map(|path| Record::parse(&text(path)).expect("a record")).collect();
    let shown = text(&std::path::Path::new(folder).join("README.md"));
    assert!(!records.is_empty() && shown.contains(&comparison(&records)), "other figures");
    for record in &records {
        assert!(shown.contains(summary(record).trim()), "another summary of {}", record.machine);
    }
}

#[test]
fn a_run_without_workloads_has_a_page_which_says_that_it_was_interrupted() {
    let interrupted = Some("SIGINT".to_owned());
    let empty = Record { workloads: Vec::new(), backends: Vec::new(), interrupted, ..record() };
    let page = page(&empty);
    assert!(Plot::all(&empty).is_empty() && page.contains("<table>"));
    assert!(page.contains("<p>Interrupted by SIGINT: the last workload"), "{page}");
}

/// A ratio of these would be 0, infinite or no number.
#[test]
fn a_duration_that_no_run_can_have_measured_is_refused_with_its_field() {
    let parsed = |from: &str, to: &str| Record::parse(&RECORD.replacen(from, to, 1)).err();
    let ours = "workloads[0].timed[0].backends[0].durations";
    let range = "expected nanoseconds from 1e-3 to 1e15";
    for (value, shown) in [("0", "0e0"), ("-1000", "-1e3"), ("1e308", "1e308"), ("5e-324", "5e-324")] {
        assert_eq!(
            parsed("\"durations\":{\"median\":1000", &format!("\"durations\":{{\"median\":{value}")),
            Some(format!("{ours}.median is {shown}: {range}"))
        );
    }
    let of = |field: &str| Some(format!("workloads[0].timed[0].{field} is 0e0: {range}"));
    assert_eq!(parsed("\"all\":[500]", "\"all\":[500,0]"), of("floor.all[1]"));
    assert_eq!(parsed("[500,500]", "[0,500]"), of("floor.quartiles[0]"));
    assert_eq!(parsed("[4000,4000]", "[4000,0]"), of("backends[1].durations.quartiles[1]"));
    assert_eq!(
        parsed("[900,1100]", "[1001,1100]"),
        Some(format!("{ours}.median is 1000, outside of the quartiles"))
    );
    assert!(parsed("\"median\":500", "\"median\":1e999").is_some_and(|why| why.contains("line 8")));
}
