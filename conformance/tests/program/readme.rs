//! The pages are run: their console blocks print what they say, the options in their shell lines exist, and their links lead
//! somewhere.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn read(page: &str) -> String {
    fs::read_to_string(root().join(page)).unwrap()
}

fn gatherspec() -> Command {
    Command::cargo_bin("gatherspec").unwrap()
}

/// Every page, with its text: those at the top, in each of its folders, and in each folder of `conformance/`.
fn pages() -> BTreeMap<PathBuf, String> {
    let folders_in = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_dir() && !path.ends_with("target")).collect()
    };
    let mut folders = vec![root().to_owned()];
    folders.extend(folders_in(root()));
    folders.extend(folders_in(&root().join("conformance")));
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let pages = files.map(|file| file.unwrap().path()).filter(|path| path.extension() == Some("md".as_ref()));
    pages.map(|page| (page.clone(), fs::read_to_string(page).unwrap())).collect()
}

/// The text of every fenced block in a language.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

#[test]
fn the_console_blocks_print_what_the_pages_say() {
    above_quick!();
    trycmd::TestCases::new()
        .register_bin("gatherspec", Path::new(env!("CARGO_BIN_EXE_gatherspec")))
        .env("COLUMNS", "110")
        .case("../*.md")
        .case("../*/*.md")
        .case("*/*.md");
}

/// The lines of a shell block, each in one piece and without its comment.
fn lines(block: &str) -> Vec<String> {
    let joined = block.replace("\\\n", " ");
    joined.lines().map(|line| line.split(" #").next().unwrap().to_owned()).collect()
}

/// The command and the options of a line that runs `gatherspec`: its own, not those of a program behind `--`.
fn used(line: &str) -> Option<(&str, Vec<&str>)> {
    let starts = ["gatherspec ", "cargo run -- ", "cargo run --release -- "];
    let words = starts.iter().find_map(|start| line.strip_prefix(start))?;
    let own: Vec<&str> = words.split_whitespace().take_while(|word| *word != "--").collect();
    let options = own.iter().filter_map(|word| word.starts_with("--").then(|| word.split('=').next())?);
    let command = own.iter().find(|word| word.chars().all(|char| char.is_ascii_lowercase()))?;
    Some((command, options.collect()))
}

#[test]
fn the_options_in_shell_lines_exist() {
    let mut helps: BTreeMap<String, String> = BTreeMap::new();
    let mut checked = 0;
    for (page, text) in pages() {
        for line in blocks(&text, "sh").into_iter().flat_map(lines) {
            let Some((command, options)) = used(&line) else { continue };
            let help = helps.entry(command.to_owned()).or_insert_with(|| {
                let output = gatherspec().args([command, "--help"]).output().unwrap();
                assert!(output.status.success(), "{}: `{line}`", page.display());
                String::from_utf8(output.stdout).unwrap()
            });
            for option in options {
                let known = help.split_whitespace().any(|word| word == option);
                assert!(known, "{}: `{line}` has {option}", page.display());
                checked += 1;
            }
        }
    }
    assert!(checked > 20, "{checked} options were found");
}

/// The anchors of a page: its headings as links name them.
fn anchors(text: &str) -> Vec<String> {
    let slug = |heading: &str| {
        let kept = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = kept.chars().filter(|char| char.is_alphanumeric() || " -_".contains(*char));
        kept.map(|char| if char == ' ' { '-' } else { char }).collect()
    };
    text.lines().filter(|line| line.starts_with('#')).map(slug).collect()
}

#[test]
fn the_links_of_the_pages_lead_somewhere() {
    let pages = pages();
    assert!(pages.len() > 12, "{:?}", pages.keys());
    for (page, text) in &pages {
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.starts_with("https://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            let has = || anchors(&fs::read_to_string(&target).unwrap()).contains(&anchor.to_owned());
            assert!(target.exists() && (anchor.is_empty() || has()), "{} links to {link}", page.display());
        }
    }
}

#[test]
fn the_readme_shows_lines_that_others_test() {
    let (readme, optimized) = (read("README.md"), read("optimized/README.md"));
    let example = blocks(&readme, "rust")[0];
    assert!(
        blocks(&optimized, "rust").contains(&example),
        "the doctests of gather-optimized lack\n{example}"
    );
    let (page, example) = (read("conformance/RUST.md"), read("conformance/examples/my_gather.rs"));
    for block in blocks(&page, "rust") {
        assert!(example.contains(block), "examples/my_gather.rs lacks\n{block}");
    }
}
