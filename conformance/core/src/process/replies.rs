//! Reads what a backend writes, strictly: objects only, no unknown keys, exact integers. Messages say what is
//! wrong and where. Texts from a backend are cut here, so that no code that stores or shows them needs its
//! own limit.

use std::collections::{BTreeMap, BTreeSet};

use gather_spec::Outcome;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::backend::Description;
use crate::judge::Verdict;
use crate::limits::Limits;
use crate::protocol::{
    ErrorReply, Fault, InvalidReply, MAX_RANK, OutputReply, PROTOCOL, Started, UnsupportedReply,
};
use crate::strict::{from_object, in_json_words};
use crate::words::{name, shown};

use crate::trouble::Trouble;

/// What messages call a line that answers a call.
const REPLY: &str = "the reply";

/// What messages call the first line.
const START: &str = "the answer to `start`";

/// The most unknown members to name.
const MOST_IGNORED: usize = 5;

/// How much of a broken line is shown, in characters.
const EXCERPT: usize = 120;

/// The longest answer to `start`, in bytes.
const LONGEST_START: usize = 1 << 20;

/// Where to cut a position: one entry beyond the highest rank, so that a position that is too long stays
/// wrong.
const POSITION: usize = MAX_RANK + 1;

/// A line that should answer a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ReplyLine {
    /// The call that it names, if it can be read.
    pub(super) seq: Option<u64>,
    /// What it says, or what is wrong with it.
    pub(super) outcome: Result<Outcome, Trouble>,
}

/// Reads the answer to `start`. Also returns the names of members that this version does not know; a later
/// version may have them.
///
/// # Errors
/// What is wrong with it.
pub(super) fn started(line: &[u8]) -> Result<(Description, Vec<String>), String> {
    description(line).map_err(|wrong| shown(&wrong))
}

fn description(line: &[u8]) -> Result<(Description, Vec<String>), String> {
    #[derive(Deserialize)]
    struct Version {
        protocol: u64,
    }
    if line.len() > LONGEST_START {
        let bytes = line.len();
        return Err(format!("the answer to `start` has {bytes} bytes, at most {LONGEST_START} are allowed"));
    }
    check_text(line)?;
    let version: Version = read(line, START)?;
    if version.protocol != PROTOCOL {
        return Err(format!("it speaks protocol {}, this program speaks {PROTOCOL}", version.protocol));
    }
    let (started, ignored) = match (read(line, START), without_unknown(line)) {
        (Err(_), Some((known, ignored))) => (read(&known, START)?, ignored),
        (read, _) => (read?, Vec::new()),
    };
    let Started { backend, operators, .. } = started;
    Ok((Description { backend: backend.shown(), operators }, ignored))
}

/// The answer to `start` without the members that this version does not know, and their names; `None` if it has none.
fn without_unknown(line: &[u8]) -> Option<(Vec<u8>, Vec<String>)> {
    let mut started: Value = serde_json::from_slice(line).ok()?;
    let mut ignored = BTreeSet::new();
    let mut remove = |of: Option<&mut Value>, path: &str, known: &[&str]| {
        let Some(members) = of.and_then(Value::as_object_mut) else { return };
        members.retain(|name, _| {
            let is_known = known.contains(&name.as_str());
            if !is_known && ignored.len() < MOST_IGNORED {
                ignored.insert(format!("{path}{name}"));
            }
            is_known
        });
    };
    remove(Some(&mut started), "", &["protocol", "backend", "operators"]);
    remove(started.get_mut("backend"), "backend.", &["name", "version", "language"]);
    let operators = started.get_mut("operators").and_then(Value::as_object_mut);
    for operator in operators.into_iter().flat_map(|operators| operators.values_mut()) {
        remove(Some(operator), "", &["profile", "dtypes", "index_dtypes", "limits", "extends"]);
        remove(operator.get_mut("profile"), "profile.", &["bad", "negative"]);
        remove(operator.get_mut("limits"), "limits.", &Limits::NAMES);
        remove(operator.get_mut("extends"), "extends.", &["dtypes", "index_dtypes"]);
    }
    let known = serde_json::to_vec(&started).ok()?;
    (!ignored.is_empty()).then(|| (known, ignored.iter().map(|member| name(member)).collect()))
}

/// Reads the answer to a call.
pub(super) fn answer(line: &[u8]) -> ReplyLine {
    if let Err(wrong) = check_text(line) {
        return ReplyLine { seq: None, outcome: Err(Trouble::protocol(wrong)) };
    }
    let ReplyLine { seq, outcome } = right(line).unwrap_or_else(|_| broken(line));
    let fit = |trouble: Trouble| Trouble { what: shown(&trouble.what), ..trouble };
    ReplyLine { seq, outcome: outcome.map_err(fit) }
}

/// Reads a line that follows the schema. Each attempt ends at the first key that its kind of reply lacks, so
/// a right line is read only once.
fn right(line: &[u8]) -> serde_json::Result<ReplyLine> {
    let invalid = |reply: InvalidReply| ReplyLine { seq: reply.seq, outcome: Err(invalid(reply)) };
    from_object(line)
        .map(output)
        .or_else(|_| from_object(line).map(error))
        .or_else(|_| from_object(line).map(unsupported))
        .or_else(|_| from_object(line).map(invalid))
}

fn output(OutputReply { seq, output }: OutputReply) -> ReplyLine {
    let outcome = if output.file.is_some() || output.offset.is_some() {
        Err(Trouble::protocol("an output has `data`; only inputs lie in files"))
    } else {
        output.outcome().map_err(|wrong| Trouble::protocol(format!("the output: {wrong}")))
    };
    ReplyLine { seq: Some(seq), outcome }
}

fn error(ErrorReply { seq, error }: ErrorReply) -> ReplyLine {
    let mut error = error.into_error();
    error.message = shown(&error.message);
    error.fields.position.iter_mut().for_each(|position| position.truncate(POSITION));
    ReplyLine { seq: Some(seq), outcome: Ok(Outcome::Error(error)) }
}

fn unsupported(UnsupportedReply { seq, unsupported }: UnsupportedReply) -> ReplyLine {
    ReplyLine { seq: Some(seq), outcome: Ok(Outcome::Unsupported(shown(&unsupported))) }
}

/// What is wrong with a line that is not a reply, and the call that it names.
fn broken(line: &[u8]) -> ReplyLine {
    #[derive(Deserialize)]
    struct Seq {
        seq: Option<u64>,
    }
    let seq = from_object::<Seq>(line).ok().and_then(|message| message.seq);
    ReplyLine { seq, outcome: Err(Trouble::protocol(what_is_wrong(line))) }
}

fn what_is_wrong(line: &[u8]) -> String {
    let keys: BTreeMap<String, IgnoredAny> = match read(line, REPLY) {
        Ok(keys) => keys,
        Err(wrong) => return wrong,
    };
    let has = |key| keys.contains_key(key);
    let wrong = if has("output") {
        read::<OutputReply>(line, REPLY).err()
    } else if has("error") {
        read::<ErrorReply>(line, REPLY).err()
    } else if has("unsupported") {
        read::<UnsupportedReply>(line, REPLY).err()
    } else if has("invalid") {
        read::<InvalidReply>(line, REPLY).err()
    } else {
        None
    };
    wrong.unwrap_or_else(|| {
        format!("the reply has none of `output`, `error` and `unsupported`: {}", excerpt(line))
    })
}

/// What the answer `invalid` means. This program sends valid messages only, so the backend is at fault, or
/// the library behind it.
fn invalid(InvalidReply { invalid: why, fault, .. }: InvalidReply) -> Trouble {
    match fault {
        Some(Fault::InputChanged) => Trouble { verdict: Verdict::InputChanged, what: why },
        Some(Fault::BrokenContract) => Trouble::protocol(why),
        Some(Fault::Crash) => Trouble { verdict: Verdict::Crash, what: why },
        Some(Fault::Timeout) => Trouble { verdict: Verdict::Timeout, what: why },
        None => Trouble::protocol(format!("the backend took a valid message for an invalid one: {why}")),
    }
}

fn check_text(line: &[u8]) -> Result<(), String> {
    match std::str::from_utf8(line) {
        Ok(_) => Ok(()),
        Err(error) => {
            Err(format!("byte {} of the line is not UTF-8: {}", error.valid_up_to(), excerpt(line)))
        }
    }
}

fn read<'a, T: Deserialize<'a>>(line: &'a [u8], what: &str) -> Result<T, String> {
    from_object(line).map_err(|error| {
        // Every message is one line, so only the column is of use.
        let (column, wrong) = (error.column(), in_json_words(&error));
        format!("{what} breaks the schema at column {column}: {wrong}: {}", excerpt(line))
    })
}

/// The beginning of a line, escaped for messages.
fn excerpt(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(4 * EXCERPT)]);
    let shown: String = text.chars().take(EXCERPT).flat_map(char::escape_debug).collect();
    let is_cut = text.chars().nth(EXCERPT).is_some() || line.len() > 4 * EXCERPT;
    let more = if is_cut { "…" } else { "" };
    format!("`{shown}{more}`").replace("\\\"", "\"")
}

#[cfg(test)]
mod tests {
    use gather_spec::{DType, ErrorCode, Tensor};

    use super::*;

    #[test]
    fn an_excerpt_ends_with_dots_if_characters_are_missing_however_many_bytes_they_have() {
        let whole = "é".repeat(EXCERPT);
        assert_eq!(excerpt(whole.as_bytes()), format!("`{whole}`"));
        assert_eq!(excerpt(format!("{whole}é").as_bytes()), format!("`{whole}…`"));
        let of_four_bytes = "𝄞".repeat(EXCERPT);
        assert_eq!(excerpt(format!("{of_four_bytes}𝄞").as_bytes()), format!("`{of_four_bytes}…`"));
    }

    fn wrong(line: &str) -> String {
        answer(line.as_bytes()).outcome.unwrap_err().what
    }

    #[test]
    fn the_fault_of_a_refusal_is_its_verdict() {
        for (fault, verdict) in [
            (r#","fault":"input-changed""#, Verdict::InputChanged),
            (r#","fault":"broken-contract""#, Verdict::ProtocolError),
            (r#","fault":"crash""#, Verdict::Crash),
            (r#","fault":"timeout""#, Verdict::Timeout),
            ("", Verdict::ProtocolError),
        ] {
            let line = format!(r#"{{"seq":7,"invalid":"why"{fault}}}"#);
            assert_eq!(answer(line.as_bytes()).outcome.unwrap_err().verdict, verdict, "{line}");
        }
    }

    #[test]
    fn an_output_an_error_and_unsupported_are_read() {
        let output = answer(br#"{"seq":7,"output":{"dtype":"u8","shape":[2],"data":"AQI="}}"#);
        assert_eq!(output.seq, Some(7));
        let tensor = Tensor::new(DType::U8, [2], vec![1u8, 2]).unwrap();
        assert_eq!(output.outcome, Ok(Outcome::Output(tensor)));
        let error = answer(br#"{"error":{"message":"no","code":"output-too-large","bytes":340282366920938463463374607431768211455},"seq":7}"#);
        let Ok(Outcome::Error(error)) = error.outcome else { panic!("{error:?}") };
        assert_eq!((error.code, error.fields.bytes), (Some(ErrorCode::OutputTooLarge), Some(u128::MAX)));
        let index =
            answer(br#"{"seq":7,"error":{"message":"no","index":-170141183460469231731687303715884105728}}"#);
        let Ok(Outcome::Error(error)) = index.outcome else { panic!("{index:?}") };
        assert_eq!(error.fields.index, Some(i128::MIN));
        let unsupported = answer(br#"{"seq":7,"unsupported":"why"}"#);
        assert_eq!(unsupported.outcome, Ok(Outcome::Unsupported("why".to_owned())));
    }

    #[test]
    fn an_output_of_the_highest_rank_is_read() {
        let line = |rank: usize| {
            let shape = vec![1; rank];
            format!(r#"{{"seq":1,"output":{{"dtype":"u8","shape":{shape:?},"data":"BQ=="}}}}"#)
        };
        let five = Tensor::new(DType::U8, [1; 64], vec![5u8]).unwrap();
        assert_eq!(answer(line(64).as_bytes()).outcome, Ok(Outcome::Output(five)));
        assert!(wrong(&line(65)).contains("at most 64"), "{}", wrong(&line(65)));
    }

    #[test]
    fn nothing_follows_the_object_of_a_reply() {
        for more in ["x", "{}", r#"{"seq":1,"unsupported":"x"}"#] {
            let what = wrong(&format!(r#"{{"seq":1,"unsupported":"x"}} {more}"#));
            assert!(what.contains("trailing characters"), "{what}");
        }
        assert!(answer(b"{\"seq\":1,\"unsupported\":\"x\"} \r").outcome.is_ok(), "white space says nothing");
    }

    #[test]
    fn what_breaks_the_schema_is_said() {
        assert!(wrong("hello").contains("column 1"));
        assert!(wrong("[1]").contains("expected a map") || wrong("[1]").contains("an object"));
        assert!(wrong(r#"{"seq":1}"#).contains("none of `output`, `error` and `unsupported`"));
        assert!(wrong(r#"{"seq":1,"output":["u8",[1],"AA=="]}"#).contains("an object"));
        assert!(wrong(r#"{"seq":1,"error":["no"]}"#).contains("an object"));
        assert!(wrong(r#"{"seq":1,"unsupported":"x","note":1}"#).contains("unknown field `note`"));
        assert!(wrong(r#"{"seq":1,"unsupported":"x","unsupported":"y"}"#).contains("duplicate"));
        assert!(wrong(r#"{"seq":1,"unsupported":"x","output":{}}"#).contains("unknown field"));
        assert!(wrong(r#"{"seq":1.0,"unsupported":"x"}"#).contains("floating point"));
        assert!(wrong(r#"{"seq":1,"output":{"dtype":"u8","shape":[-1],"data":""}}"#).contains("-1"));
        let huge = r#"{"seq":1,"output":{"dtype":"u8","shape":[9223372036854775808],"data":""}}"#;
        assert!(wrong(huge).contains("too large"), "{}", wrong(huge));
        assert!(wrong(r#"{"seq":1,"output":{"dtype":"u8","shape":[1],"data":"AA"}}"#).contains("base64"));
        assert!(
            wrong(r#"{"seq":1,"output":{"dtype":"u8","shape":[2],"data":"AA=="}}"#).contains("the output: ")
        );
        let file = r#"{"seq":1,"output":{"dtype":"u8","shape":[2],"file":"/etc/passwd","offset":0}}"#;
        assert!(wrong(file).contains("only inputs"));
        assert!(wrong(r#"{"seq":1,"invalid":"no idea"}"#).contains("no idea"));
        assert!(
            answer(b"{\"seq\":1,\"unsupported\":\"\xff\"}").outcome.unwrap_err().what.contains("byte 24")
        );
    }

    #[test]
    fn long_texts_are_cut_and_say_how_much_is_left_out() {
        let text = "é".repeat(20 << 20 >> 1);
        let left_out = (20 << 20 >> 1) - 4000;
        let cut = format!("{0} … {left_out} characters left out … {0}", "é".repeat(2000));
        let said = |kind: &str| answer(format!(r#"{{"seq":1,{kind}}}"#).as_bytes()).outcome;
        let Ok(Outcome::Error(error)) = said(&format!(r#""error":{{"message":"{text}"}}"#)) else {
            panic!("no error")
        };
        assert_eq!(error.message, cut);
        assert_eq!(said(&format!(r#""unsupported":"{text}""#)), Ok(Outcome::Unsupported(cut.clone())));
        let invalid = said(&format!(r#""invalid":"{text}""#)).unwrap_err().what;
        assert!(invalid.contains(" characters left out … éé") && invalid.chars().count() < 4100);
        // The message quotes what was found.
        for broken in [
            format!(r#""error":{{"message":"no","code":"{text}"}}"#),
            format!(r#""error":{{"message":"no","{text}":1}}"#),
            format!(r#""output":{{"dtype":"u8","shape":["{text}"],"data":""}}"#),
            format!(r#""{text}":1"#),
        ] {
            let what = said(&broken).unwrap_err().what;
            assert!(what.len() < 2 * 4100, "{} bytes", what.len());
        }
        let position = format!(r#""error":{{"message":"no","position":{:?}}}"#, vec![0; 100_000]);
        let Ok(Outcome::Error(error)) = said(&position) else { panic!("no error") };
        assert_eq!(error.fields.position, Some(vec![0; 65]));
        let at_most = "x".repeat(4000);
        let unsupported = said(&format!(r#""unsupported":"{at_most}""#));
        assert_eq!(unsupported, Ok(Outcome::Unsupported(at_most)));
    }

    #[test]
    fn an_error_whose_members_are_null_is_none() {
        for member in ["code", "position", "component", "index", "bound", "bytes", "rule", "message"] {
            let message = if member == "message" { "" } else { r#""message":"no","# };
            let line = format!(r#"{{"seq":1,"error":{{{message}"{member}":null}}}}"#);
            assert!(wrong(&line).contains("null"), "{member}: {}", wrong(&line));
        }
    }

    #[test]
    fn members_of_a_later_version_are_ignored_and_named() {
        let line = r#"{"protocol":2,"backend":{"name":"n","version":"1","language":"x","url":"u"},"modes":[],
            "operators":{"o":{"profile":{"bad":"zero","negative":"wrap"},"dtypes":["f32"],"index_dtypes":["i64"],
            "limits":{"max_rank":4,"max_speed":1},"variants":["indices=constant"]}}}"#;
        let (description, ignored) = started(line.replace('\n', " ").as_bytes()).unwrap();
        assert_eq!(ignored, ["backend.url", "limits.max_speed", "modes", "variants"]);
        let limits = Limits { max_rank: Some(4), ..Limits::default() };
        assert_eq!(description.operators["o"].limits, limits);
        // Known members are read as strictly as before.
        let wrong =
            started(line.replace('\n', " ").replace(r#""max_rank":4"#, r#""max_rank":-4"#).as_bytes())
                .unwrap_err();
        assert!(wrong.contains("invalid value: integer `-4`"), "{wrong}");
        let null =
            started(line.replace('\n', " ").replace(r#""max_rank":4"#, r#""max_rank":null"#).as_bytes())
                .unwrap_err();
        assert!(null.contains("null"), "{null}");
    }

    #[test]
    fn a_start_is_read_strictly() {
        let rest = r#""backend":{"name":"n","version":"1","language":"x"},"operators":{"o":{"profile":{"bad":"zero","negative":"wrap"},"dtypes":["f32"],"index_dtypes":[]}}"#;
        let line = format!("{{\"protocol\":2,{rest}}}");
        assert!(started(line.as_bytes()).is_ok());
        let wrong = |line: &str| started(line.as_bytes()).unwrap_err();
        assert!(wrong(&line.replace("\"protocol\":2", "\"protocol\":9")).contains("speaks protocol 9"));
        let modulo = wrong(&line.replace("zero", "modulo"));
        assert!(modulo.contains("only the mode of a call chooses `modulo`"), "{modulo}");
        assert!(wrong(&line.replace("zero", "ignore")).contains("ignore"));
        assert!(wrong(&line.replace("f32", "f8")).contains("f8"));
        let profile = r#"{"bad":"zero","negative":"wrap"}"#;
        assert!(wrong(&line.replace(profile, r#"["zero","wrap"]"#)).contains("an object"));
        let backend = r#"{"name":"n","version":"1","language":"x"}"#;
        assert!(wrong(&line.replace(backend, r#"["n","1","x"]"#)).contains("an object"));
        let twice = line.replace(
            "\"operators\":{",
            r#""operators":{"o":{"profile":{"bad":"zero","negative":"wrap"},"dtypes":[],"index_dtypes":[]},"#,
        );
        assert!(wrong(&twice).contains("twice"));
        assert!(wrong("Welcome to my backend").contains("Welcome"));
        let named = |length| line.replace(r#""name":"n""#, &format!(r#""name":"{}""#, "n".repeat(length)));
        let name = started(named(5000).as_bytes()).unwrap().0.backend.name;
        assert_eq!(name, format!("{}…", "n".repeat(200)));
        assert!(wrong(&named(1 << 20)).contains("at most 1048576 are allowed"));
    }
}
