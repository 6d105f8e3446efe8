//! The HTML report as a file: its data are those of the report, it loads nothing, and no text of a backend is markup.

pub(crate) mod made;

use std::sync::Arc;

use gather_spec::{Case, Specification};
use gatherspec::internals::report::{self, BackendReport, Report};
use serde_json::Value;

use made::EVIL;

fn spec() -> &'static Specification {
    crate::embedded()
}

/// The page of a report.
fn page(report: &Report, spec: &Specification, cases: &[&Arc<Case>]) -> String {
    let folder = tempfile::tempdir().unwrap();
    report::write(report, folder.path(), spec, cases).unwrap();
    std::fs::read_to_string(folder.path().join("report.html")).unwrap()
}

/// What stands between two marks.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    text.split_once(from).unwrap().1.split_once(to).unwrap().0
}

const DATA: &str = r#"<script type="application/json" id="data">"#;

fn data(page: &str) -> Value {
    serde_json::from_str(between(page, DATA, "</script>")).unwrap()
}

/// The page without its data, styles and script.
fn markup(page: &str) -> String {
    let (before, rest) = page.split_once("<style>").unwrap();
    let (main, _) = rest.split_once("</style>").unwrap().1.split_once(DATA).unwrap();
    format!("{before}{main}")
}

fn numbers(list: &Value) -> Vec<usize> {
    list.as_array().unwrap().iter().map(|one| usize::try_from(one.as_u64().unwrap()).unwrap()).collect()
}

/// The ids of the cases, from the columns.
fn ids(data: &Value) -> Vec<String> {
    let cases = &data["cases"];
    let text = |number: usize| data["texts"][number].as_str().unwrap();
    let mut ids = Vec::new();
    for (folder, name) in numbers(&cases["folder"]).into_iter().zip(numbers(&cases["name"])) {
        ids.push(format!("{}{}", text(folder), text(name)));
    }
    ids
}

/// The verdicts of a backend, from its runs.
fn verdicts(data: &Value, backend: usize) -> Vec<&str> {
    let runs = numbers(&data["backends"][backend]["verdicts"]);
    let name = |verdict: usize| data["verdicts"][verdict].as_str().unwrap();
    runs.chunks(2).flat_map(|run| std::iter::repeat_n(name(run[0]), run[1])).collect()
}

#[test]
fn the_page_holds_every_result_of_the_report() {
    let spec = spec();
    let cases = made::cases(spec, 3000);
    let report = made::report(spec, &cases, &["one".to_owned(), "two".to_owned()], 20);
    let page = page(&report, spec, &cases);
    let data = data(&page);
    assert_eq!(ids(&data), cases.iter().map(|case| case.id.clone()).collect::<Vec<_>>());
    for (number, backend) in report.backends.iter().enumerate() {
        let results: Vec<&str> = backend.results.iter().map(|entry| entry.verdict.name()).collect();
        assert_eq!(verdicts(&data, number), results);
        let details = data["backends"][number]["details"].as_array().unwrap();
        let unusual: Vec<_> =
            backend.results.iter().enumerate().filter(|(_, entry)| entry.call.is_some()).collect();
        assert!(
            unusual.len() > 50 && details.len() == unusual.len(),
            "{} of {}",
            details.len(),
            unusual.len()
        );
        for (detail, (case, entry)) in details.iter().zip(unusual) {
            let text = |key: &str| {
                &data["texts"][usize::try_from(detail[key].as_u64().unwrap_or_default()).unwrap()]
            };
            assert_eq!(detail["case"].as_u64().unwrap_or_default(), case as u64);
            assert_eq!(text("call"), entry.call.as_deref().unwrap());
            assert_eq!(text("expected"), entry.expected.as_deref().unwrap());
            assert_eq!(text("actual"), entry.actual.as_deref().unwrap());
            assert_eq!(detail["difference"].is_object(), entry.difference.is_some());
        }
        let sentence = &backend.summary.sentence;
        assert!(markup(&page).contains(&format!("<p>{sentence}</p>")), "{sentence}");
    }
}

/// A call that fails is drawn if it is small, and one that two backends fail is drawn once.
#[test]
fn small_calls_that_fail_are_drawn() {
    let spec = spec();
    let cases = made::cases(spec, 400);
    let report = made::report(spec, &cases, &["one".to_owned(), "two".to_owned()], 2);
    let page = page(&report, spec, &cases);
    let data = data(&page);
    let pictures: Vec<Vec<(u64, u64)>> = (0..2)
        .map(|backend| {
            let details = data["backends"][backend]["details"].as_array().unwrap().iter();
            let number = |detail: &Value, key: &str| detail[key].as_u64().unwrap_or_default();
            details.map(|detail| (number(detail, "case"), number(detail, "picture"))).collect()
        })
        .collect();
    let mut drawn = 0;
    for (case, picture) in pictures.iter().flatten() {
        let (case, picture) = (usize::try_from(*case).unwrap(), usize::try_from(*picture).unwrap());
        let size =
            report.backends.iter().map(|backend| &backend.results[case]).map(|entry| entry.size.elements);
        let size = size.min().unwrap();
        assert!(picture == 0 || size <= 48, "{}", cases[case].id);
        if picture > 0 {
            drawn += 1;
            let svg = data["texts"][picture].as_str().unwrap();
            let title = format!("<title>{}</title>", cases[case].operator());
            assert!(svg.starts_with("<svg") && svg.contains(&title), "{svg}");
        }
    }
    assert!(drawn > 50, "{drawn}");
    let both = pictures[0].iter().filter(|one| one.1 > 0 && pictures[1].contains(one));
    assert!(both.count() > 10, "a case that both fail has one picture");
}

#[test]
fn every_case_leads_to_its_clauses_their_documents_and_rulings() {
    let spec = spec();
    let cases = made::cases(spec, 3000);
    let report = made::report(spec, &cases, &["one".to_owned()], 20);
    let data = data(&page(&report, spec, &cases));
    let rows = numbers(&data["cases"]["set"]).into_iter().enumerate();
    let mut ruled = 0;
    for (case, (row, set)) in cases.iter().zip(rows) {
        let clauses: Vec<&Value> =
            numbers(&data["sets"][set]).iter().map(|one| &data["clauses"][*one]).collect();
        assert_eq!(clauses.len(), case.clauses.len(), "{}", case.id);
        let basis = usize::try_from(data["cases"]["basis"][row].as_u64().unwrap()).unwrap();
        assert_eq!(data["bases"][basis], case.basis.name(), "{}", case.id);
        for (shown, clause) in clauses.iter().zip(case.clauses.iter().map(|id| spec.clause(id).unwrap())) {
            assert_eq!(
                (&shown["id"], &shown["text"]),
                (&clause.id.clone().into(), &clause.text.trim().into())
            );
            assert_eq!(shown["sources"].as_array().unwrap().len(), clause.sources.len());
            ruled += clause.errata.len();
            assert_eq!(shown["rulings"].as_array().map_or(0, Vec::len), clause.errata.len());
        }
    }
    assert!(ruled > 100, "{ruled} rulings");
}

#[test]
fn no_text_of_a_backend_is_markup() {
    let spec = spec();
    let cases = made::cases(spec, 400);
    let report = made::report(spec, &cases, &[EVIL.to_owned()], 20);
    let page = page(&report, spec, &cases);
    assert_eq!(page.matches("<script").count(), 2, "the data and the script");
    assert_eq!(page.matches("</script").count(), 2);
    let markup = markup(&page);
    assert!(!markup.contains("<img") && !markup.contains("obeyed = 1</"), "{markup}");
    assert!(markup.contains("<h3>&#60;/script&#62;&#60;script&#62;"), "{markup}");
    let data = data(&page);
    let evil =
        data["texts"].as_array().unwrap().iter().filter(|text| text.as_str().unwrap().contains(EVIL)).count();
    assert!(evil > 0 && data["backends"][0]["name"].as_str().unwrap().starts_with("</script>"), "{evil}");
}

#[test]
fn the_page_loads_nothing() {
    let spec = spec();
    let cases = made::cases(spec, 50);
    let page = page(&made::report(spec, &cases, &["one".to_owned()], 20), spec, &cases);
    let markup = markup(&page);
    for link in markup.split("href=\"").skip(1) {
        assert!(link.starts_with('#'), "{}", &link[..40.min(link.len())]);
    }
    let (style, script) = (between(&page, "<style>", "</style>"), page.rsplit_once("<script>").unwrap().1);
    for loads in ["src=", "srcset", "<link", "<iframe", "<object", "<base", "http-equiv=\"refresh"] {
        assert!(!markup.contains(loads), "{loads}");
    }
    for loads in ["url(", "@import", "http:", "https:"] {
        assert!(!style.contains(loads), "{loads}");
    }
    let markup_or_network = [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "setHTML",
        "DOMParser",
        "eval(",
        "fetch(",
        "XMLHttpRequest",
        "WebSocket",
        "import(",
        "Worker(",
        "sendBeacon",
        "new Function",
    ];
    for uses in markup_or_network {
        assert!(!script.contains(uses), "the script uses {uses}");
    }
    let policy = between(&page, "Content-Security-Policy\" content=\"", "\">");
    assert!(policy.starts_with("default-src &#39;none&#39;; script-src &#39;sha256-"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
}

#[test]
fn a_page_without_javascript_and_its_data() {
    let spec = spec();
    let cases: Vec<&Arc<Case>> =
        spec.cases.iter().filter(|case| case.id.starts_with("paddle.gather_nd/documented/")).collect();
    let mut report = made::report(spec, &cases, &["mine".to_owned()], 2);
    report.backends[0].departures.retain(|departure| departure.operator == "paddle.gather_nd");
    let broken = BackendReport::broken("./absent".to_owned(), "No such file <or> folder");
    report.backends.push(broken);
    let page = page(&report, spec, &cases);
    let main = between(&page, "<main>", "<noscript>");
    insta::assert_snapshot!("page", main);
    insta::assert_snapshot!("page-data", serde_json::to_string_pretty(&data(&page)).unwrap());
}
