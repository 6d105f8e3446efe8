//! Which file of a crate uses which, as far as paths in the source tell. Methods called on a value name no file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::{CRATES, root, rust_files};
use crate::in_step::assert_in_step;

/// The segments of a path, such as `crate::judge::Verdict`.
type Segments = Vec<String>;

/// One crate: its files by the path of their module, without `crate`.
#[derive(Default)]
struct Crate {
    files: BTreeMap<Segments, SourceFile>,
}

#[derive(Default)]
struct SourceFile {
    path: PathBuf,
    /// What `use` calls what, from the root of the crate on.
    aliases: BTreeMap<String, Segments>,
    /// What the file uses: `use` items that are no re-exports of its own submodules, and paths in code.
    uses: BTreeSet<Segments>,
}

#[test]
fn no_files_import_each_other_in_a_ring() {
    let mut rings = Vec::new();
    for folder in CRATES {
        let of_crate = Crate::read(&root().join(folder).join("src"));
        assert!(of_crate.edges().values().any(|used| !used.is_empty()), "no file of {folder} uses another");
        rings.extend(of_crate.rings().into_iter().map(|ring| (folder, ring)));
    }
    assert!(rings.is_empty(), "move what both files use to a file of its own: {rings:#?}");
}

#[test]
fn the_page_of_layers() {
    let mut page = "<!-- Generated from the sources, and checked by a test: `bash .ci/bless` writes it. -->\n\n# Layers\n\n\
                    The modules of each crate by floor, the highest first: a module uses only modules of lower floors. Crates\n\
                    are in the order of `Cargo.toml`: each uses only those before it. A `+` joins modules that use each other.\n"
        .to_owned();
    for folder in CRATES {
        let of_crate = Crate::read(&root().join(folder).join("src"));
        page += &format!("\n## {folder}\n\n| floor | modules |\n| --- | --- |\n");
        for (floor, modules) in of_crate.floors().iter().enumerate().rev() {
            page += &format!("| {} | {} |\n", floor + 1, modules.join(", "));
        }
    }
    assert_in_step("conformance/LAYERS.md", &page);
}

#[test]
fn no_modules_use_each_other_in_a_ring() {
    // In spec, a case makes its runs by the loader that has made it.
    for folder in CRATES.iter().filter(|folder| **folder != "spec") {
        let rings = Crate::read(&root().join(folder).join("src")).rings_of_modules();
        assert!(rings.is_empty(), "{folder}: move what both modules use to a module of its own: {rings:#?}");
    }
}

#[test]
fn rings_of_modules_are_found_where_no_files_form_one() {
    let mut made = Crate::default();
    let files = [
        (&["a"][..], "mod b; use crate::c::d::D;"),
        (&["a", "b"], "pub struct B;"),
        (&["c"], "mod d; use crate::a::b::B;"),
        (&["c", "d"], "pub struct D;"),
        (&["e"], "use crate::a::b::B;"),
    ];
    for (path, text) in files {
        made.add(path.iter().map(|name| (*name).to_owned()).collect(), Path::new("made.rs"), text);
    }
    assert_eq!((made.rings(), made.rings_of_modules()), (Vec::new(), vec!["a, c".to_owned()]));
}

#[test]
fn rings_are_found_and_mere_re_exports_are_none() {
    let of_crate = |parent: &str, a: &str, b: &str| {
        let mut made = Crate::default();
        for (path, text) in [(&[][..], parent), (&["a"], a), (&["b"], b)] {
            made.add(path.iter().map(|name| (*name).to_owned()).collect(), Path::new("made.rs"), text);
        }
        made.rings().len()
    };
    let declares = "mod a; mod b; pub use a::A; use b::{self as other}; use std::fmt::{self, *};";
    assert_eq!(of_crate(declares, "use crate::b::B; pub struct A(B);", "pub struct B;"), 0);
    assert_eq!(of_crate(declares, "use crate::b::B; pub struct A;", "use super::A; pub struct B;"), 1);
    assert_eq!(of_crate(declares, "fn f() { crate::b::g() }", "fn g() { g::<super::A>() }"), 1);
    assert_eq!(of_crate(declares, "fn f() -> impl X + use<> { crate::b::g(); }", "use super::A;"), 1);
    assert_eq!(of_crate(declares, "", "/// [`super::A`]\nfn g() { \"super::A\"; }"), 0);
    assert_eq!(of_crate(declares, "use super::b; fn f() { b::g() }", "mod m { use super::super::A; }"), 1);
    assert_eq!(of_crate(declares, "use super::b::B;", "#[cfg(test)] mod tests { use crate::A; }"), 0);
    let asks = format!("{declares} pub struct P(A);");
    assert_eq!(of_crate(&asks, "", ""), 0, "a parent may use its child");
    assert_eq!(of_crate(&asks, "use crate::P;", ""), 1, "and the child its parent, but not both");
    assert_eq!(of_crate(declares, "use super::P;", ""), 0);
}

impl Crate {
    fn read(src: &Path) -> Self {
        let mut read = Self::default();
        for path in rust_files(src) {
            let within = path.strip_prefix(src).unwrap().with_extension("");
            let mut module: Segments =
                within.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            // Nothing can import a `main.rs`.
            if module == ["main"] {
                continue;
            }
            module.pop_if(|last| last == "mod" || last == "lib");
            read.add(module, &path, &std::fs::read_to_string(&path).unwrap());
        }
        read
    }

    fn add(&mut self, module: Segments, path: &Path, text: &str) {
        let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let path = path.strip_prefix(root()).unwrap_or(path).to_owned();
        let mut reader = ImportReader {
            file: SourceFile { path, ..SourceFile::default() },
            module: module.clone(),
            modules: vec![],
        };
        let tokens = flat(tokens);
        reader.read_modules(&tokens);
        reader.read(&tokens);
        self.files.insert(module, reader.file);
    }

    /// Which file a path leads to, through re-exports; `None` if to a module and nothing in it.
    fn file_of(&self, path: &[String]) -> Option<&Segments> {
        let is_file = |len: &usize| self.files.contains_key(&path[..*len]);
        let depth = (0..=path.len()).rev().find(is_file)?;
        // A name may be that of a module and of a function that its parent takes from there.
        for depth in [depth, depth.saturating_sub(1)] {
            let (module, file) = self.files.get_key_value(&path[..depth])?;
            let Some(name) = path.get(depth) else { continue };
            match file.aliases.get(name) {
                Some(alias) if alias[..] != path[..=depth] => {
                    return self.file_of(&[alias, &path[depth + 1..]].concat());
                }
                _ if path.len() == depth + 1 && self.files.contains_key(path) => return None,
                _ => return Some(module),
            }
        }
        None
    }

    /// The other files that each file uses.
    fn edges(&self) -> BTreeMap<&Segments, BTreeSet<&Segments>> {
        let used = |(module, file): (_, &SourceFile)| {
            let files = file.uses.iter().filter_map(|path| self.file_of(path));
            (module, files.filter(|other| *other != module).collect())
        };
        self.files.iter().map(|(module, file)| used((module, file))).collect()
    }

    /// The groups of files each of which uses the others, at least by way of others.
    fn rings(&self) -> Vec<String> {
        let edges = self.edges();
        let named = |ring: Vec<&Segments>| {
            let uses = ring.iter().map(|file| {
                let others = edges[file].iter().filter(|other| ring.contains(other));
                let others: Vec<_> = others.map(|other| self.files[*other].path.to_string_lossy()).collect();
                format!("{} uses {}", self.files[*file].path.display(), others.join(", "))
            });
            uses.collect::<Vec<_>>().join("; ")
        };
        rings(&edges).into_iter().map(named).collect()
    }

    /// The other modules that each module uses: a module is a file beside `lib.rs` with all that is in the folder of its name.
    fn edges_of_modules(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (file, used) in self.edges() {
            let Some(module) = file.first().filter(|_| file.last().is_none_or(|last| last != "tests")) else {
                continue;
            };
            let used = used.into_iter().filter_map(|other| other.first()).map(String::as_str);
            edges.entry(module).or_default().extend(used.filter(|other| other != module));
        }
        edges
    }

    /// The groups of modules each of which uses the others, at least by way of others.
    fn rings_of_modules(&self) -> Vec<String> {
        rings(&self.edges_of_modules()).into_iter().map(|ring| ring.join(", ")).collect()
    }

    /// The modules by floor: each uses only those of lower floors, and one of the floor below it. Those that use each other
    /// are one entry.
    fn floors(&self) -> Vec<Vec<String>> {
        let edges = self.edges_of_modules();
        let in_rings = rings(&edges);
        let alone = edges.keys().filter(|module| !in_rings.iter().any(|ring| ring.contains(module)));
        let mut left: Vec<Vec<&str>> = alone.map(|module| vec![*module]).chain(in_rings.clone()).collect();
        let mut floors = Vec::new();
        while !left.is_empty() {
            let is_above = |group: &Vec<&str>| {
                let used =
                    group.iter().flat_map(|module| &edges[module]).filter(|used| !group.contains(used));
                left.iter().flatten().any(|module| used.clone().any(|used| used == module))
            };
            let (above, floor): (Vec<_>, Vec<_>) = left.iter().cloned().partition(is_above);
            let mut named: Vec<String> = floor.iter().map(|group| group.join(" + ")).collect();
            named.sort();
            floors.push(named);
            left = above;
        }
        floors
    }
}

/// The groups of nodes each of which reaches the others.
fn rings<T: Copy + Ord>(edges: &BTreeMap<T, BTreeSet<T>>) -> Vec<Vec<T>> {
    let reach = |from: T| {
        let (mut reached, mut left) = (BTreeSet::new(), vec![from]);
        while let Some(node) = left.pop() {
            left.extend(edges[&node].iter().copied().filter(|next| reached.insert(*next)));
        }
        reached
    };
    let reached: BTreeMap<T, BTreeSet<T>> = edges.keys().map(|from| (*from, reach(*from))).collect();
    let ring_of =
        |node: &T| reached[node].iter().copied().filter(|other| reached[other].contains(node)).collect();
    let found: BTreeSet<Vec<T>> = edges.keys().map(ring_of).collect();
    found.into_iter().filter(|ring| !ring.is_empty()).collect()
}

/// Reads one file, or a module within it.
struct ImportReader {
    file: SourceFile,
    module: Segments,
    /// The submodules that the file declares.
    modules: Vec<String>,
}

impl ImportReader {
    /// Takes the names of the submodules, which paths may begin with.
    fn read_modules(&mut self, tokens: &[String]) {
        let declared = tokens.windows(3).filter(|window| window[0] == "mod" && window[2] == ";");
        self.modules = declared.map(|window| window[1].clone()).collect();
    }

    fn read(&mut self, tokens: &[String]) {
        let mut at = 0;
        while at < tokens.len() {
            at += match tokens[at].as_str() {
                "#" if starts(&tokens[at..], "# [ cfg ( test ) ] mod") => item_len(&tokens[at..]),
                "mod" if starts(&tokens[at + 2..], "{") => {
                    let len = item_len(&tokens[at..]);
                    self.module.push(tokens[at + 1].clone());
                    self.read(&tokens[at + 3..at + len]);
                    self.module.pop();
                    len
                }
                // The other `use` is that of `impl Trait + use<>`.
                "use" if tokens[at + 1] != "<" => {
                    let len = item_len(&tokens[at..]);
                    let is_public = at > 0 && [")", "pub"].contains(&tokens[at - 1].as_str());
                    self.read_use(&tokens[at + 1..at + len - 1], &[], is_public);
                    len
                }
                _ => self.read_path(&tokens[at..]),
            }
        }
    }

    /// One tree of a `use` item, after what stands before its braces.
    fn read_use(&mut self, tree: &[String], before: &[String], is_public: bool) {
        if let Some(brace) = tree.iter().position(|token| token == "{") {
            let before = [before, &names(&tree[..brace])].concat();
            let (mut depth, inner) = (0, &tree[brace + 1..tree.len() - 1]);
            let is_comma = |token: &String| {
                depth += i32::from(token == "{") - i32::from(token == "}");
                depth == 0 && token == ","
            };
            inner.split(is_comma).for_each(|tree| self.read_use(tree, &before, is_public));
            return;
        }
        let (path, alias) = match tree.iter().position(|token| token == "as") {
            Some(at) => (&tree[..at], tree.get(at + 1)),
            None => (tree, None),
        };
        let mut path = [before, &names(path)].concat();
        path.pop_if(|last| last == "self");
        let Some(absolute) = self.absolute(&path) else { return };
        let is_own = absolute.starts_with(&self.module) && absolute.len() > self.module.len();
        if !(is_public && is_own) {
            self.file.uses.insert(absolute.clone());
        }
        if let Some(name) = alias.or(absolute.last()) {
            self.file.aliases.insert(name.clone(), absolute);
        }
    }

    /// A path in code, if the tokens begin with one; gives how many tokens it takes.
    fn read_path(&mut self, tokens: &[String]) -> usize {
        let is_name = |token: &String| token.starts_with(|first: char| first.is_alphabetic() || first == '_');
        if !is_name(&tokens[0]) {
            // What follows these is a member, or part of another crate's path.
            return if ["::", "."].contains(&tokens[0].as_str()) { 2 } else { 1 };
        }
        let more = tokens[1..].chunks_exact(2).take_while(|pair| pair[0] == "::" && is_name(&pair[1]));
        let len = 1 + 2 * more.count();
        let path = names(&tokens[..len]);
        self.file
            .uses
            .extend(self.absolute(&path).filter(|_| len > 1 || self.file.aliases.contains_key(&path[0])));
        len
    }

    /// A path from the root of the crate on; `None` if it leads elsewhere.
    fn absolute(&self, path: &[String]) -> Option<Segments> {
        let (first, rest) = path.split_first()?;
        let parent = || self.module.split_last().map(|(_, parent)| parent.to_vec());
        let mut base = match first.as_str() {
            "crate" => Vec::new(),
            "self" => self.module.clone(),
            "super" => parent()?,
            own if self.modules.contains(first) && !rest.is_empty() => {
                [&self.module[..], &[own.to_owned()]].concat()
            }
            alias => self.file.aliases.get(alias)?.clone(),
        };
        for name in rest {
            if name == "super" {
                base.pop();
            } else {
                base.push(name.clone());
            }
        }
        Some(base)
    }
}

/// The names of a path.
fn names(path: &[String]) -> Segments {
    path.iter().filter(|token| !["::", "*"].contains(&token.as_str())).cloned().collect()
}

fn starts(tokens: &[String], with: &str) -> bool {
    with.split(' ').zip(tokens).filter(|(one, other)| one == other).count() == with.split(' ').count()
}

/// How many tokens an item takes that ends with its first `;` or block.
fn item_len(tokens: &[String]) -> usize {
    let mut depth = 0;
    let ends = |token: &String| {
        depth += i32::from(token == "{") - i32::from(token == "}");
        depth == 0 && [";", "}"].contains(&token.as_str())
    };
    let is_use = tokens[0] == "use";
    let end =
        if is_use { tokens.iter().position(|token| token == ";") } else { tokens.iter().position(ends) };
    end.map_or(tokens.len(), |end| end + 1)
}

/// The tokens as texts, groups with their delimiters among them, `::` as one.
fn flat(tokens: TokenStream) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                texts.push(open.to_owned());
                texts.extend(flat(group.stream()));
                texts.push(close.to_owned());
            }
            TokenTree::Punct(colon)
                if colon.as_char() == ':' && texts.last().is_some_and(|last| last == ":") =>
            {
                texts.pop();
                texts.push("::".to_owned());
            }
            // A literal is no name, whatever it holds.
            TokenTree::Literal(_) => texts.push("0".to_owned()),
            other => texts.push(other.to_string()),
        }
    }
    texts
}
