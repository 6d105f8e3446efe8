//! The grammar of a typed call: a name and arguments in parentheses, each a value with a name before it and a dtype behind it
//! if wanted. A value is a nested list, a word such as `-0.0` or `true`, or a string in quotes.

use gather_spec::Diagnostic;
use gather_spec::diagnostic::{Place, nearest};

/// The deepest nesting of lists: the highest rank of a tensor.
const DEEPEST: usize = gather_spec::shape::MAX_RANK;

/// An error at a byte of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    pub(super) at: usize,
    pub(super) message: String,
    pub(super) help: String,
}

impl SyntaxError {
    pub(super) fn new(at: usize, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { at, message: message.into(), help: help.into() }
    }

    /// The error with the line of the text that it is in.
    pub(super) fn in_text(self, text: &str) -> Diagnostic {
        let before = text.get(..self.at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Diagnostic::at("call", text, Place { line, column }, self.message).help(self.help)
    }
}

/// A name or a literal, and the byte where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) at: usize,
    pub(super) text: String,
}

/// A value, and the byte where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TypedValue {
    List(usize, Vec<Self>),
    Word(Word),
    /// A string in quotes.
    Quoted(Word),
}

impl TypedValue {
    pub(super) const fn at(&self) -> usize {
        match self {
            Self::List(at, _) => *at,
            Self::Word(word) | Self::Quoted(word) => word.at,
        }
    }
}

/// `name=value:dtype`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Argument {
    pub(super) name: Option<Word>,
    pub(super) value: TypedValue,
    pub(super) dtype: Option<Word>,
}

/// A call as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WrittenCall {
    pub(super) operator: Word,
    pub(super) arguments: Vec<Argument>,
    /// The byte of the closing parenthesis.
    pub(super) end: usize,
}

/// Reads a call.
pub(super) fn written(text: &str) -> Result<WrittenCall, SyntaxError> {
    let mut reader = CallReader { text, at: 0 };
    let operator = reader.word("the name of an operator", "such as torch.gather([1, 2], 0, [1])")?;
    reader.expect('(', "arguments follow in parentheses")?;
    let mut arguments: Vec<Argument> = Vec::new();
    while !reader.takes(')') {
        if !arguments.is_empty() {
            reader.expect(',', "a comma separates arguments, and a parenthesis ends them")?;
            if reader.takes(')') {
                break;
            }
        }
        arguments.push(reader.argument()?);
    }
    let end = reader.at.saturating_sub(1);
    reader.skip_spaces();
    match reader.rest().is_empty() {
        true => Ok(WrittenCall { operator, arguments, end }),
        false => Err(reader.wrong("nothing may follow the closing parenthesis", "ask one call at a time")),
    }
}

struct CallReader<'a> {
    text: &'a str,
    /// The byte of the next character.
    at: usize,
}

impl CallReader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_spaces(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Takes a character, if it is the next one.
    fn takes(&mut self, character: char) -> bool {
        self.skip_spaces();
        let found = self.rest().starts_with(character);
        self.at += if found { character.len_utf8() } else { 0 };
        found
    }

    fn expect(&mut self, character: char, help: &str) -> Result<(), SyntaxError> {
        match self.takes(character) {
            true => Ok(()),
            false => Err(self.wrong(&format!("expected `{character}`, found {}", self.found()), help)),
        }
    }

    fn wrong(&self, message: &str, help: &str) -> SyntaxError {
        SyntaxError::new(self.at, message, help)
    }

    /// The next character in words.
    fn found(&self) -> String {
        match self.rest().chars().next() {
            Some(character) => format!("`{character}`"),
            None => "the end".to_owned(),
        }
    }

    /// A name or a literal without quotes.
    fn word(&mut self, what: &str, help: &str) -> Result<Word, SyntaxError> {
        self.skip_spaces();
        let ends = |c: char| c.is_whitespace() || "[](),=:\"'".contains(c);
        let length = self.rest().find(ends).unwrap_or(self.rest().len());
        if length == 0 {
            return Err(self.wrong(&format!("expected {what}, found {}", self.found()), help));
        }
        let word = Word { at: self.at, text: self.rest()[..length].to_owned() };
        self.at += length;
        Ok(word)
    }

    fn argument(&mut self) -> Result<Argument, SyntaxError> {
        let mut value = self.value(0)?;
        let mut name = None;
        if self.takes('=') {
            let TypedValue::Word(word) = value else {
                let help = "a name stands before `=`, such as axis=1";
                return Err(SyntaxError::new(value.at(), "this is no name", help));
            };
            name = Some(word);
            value = self.value(0)?;
        }
        let dtype = match self.takes(':') {
            true => Some(self.word("a dtype", "such as [1, 2]:f16")?),
            false => None,
        };
        Ok(Argument { name, value, dtype })
    }

    fn value(&mut self, depth: usize) -> Result<TypedValue, SyntaxError> {
        self.skip_spaces();
        match self.rest().chars().next() {
            Some('[') if depth == DEEPEST => Err(self
                .wrong("the list is nested too deep", &format!("a rank of at most {DEEPEST} is possible"))),
            Some('[') => self.list(depth),
            Some('(') => {
                Err(self.wrong("expected a value, found `(`", "lists are written in brackets: [1, 2]"))
            }
            Some(quote @ ('"' | '\'')) => self.quoted(quote).map(TypedValue::Quoted),
            _ => self
                .word("a value", "a list such as [[1, 2], [3, 4]], a number, true, nan or a string in quotes")
                .map(TypedValue::Word),
        }
    }

    fn list(&mut self, depth: usize) -> Result<TypedValue, SyntaxError> {
        let at = self.at;
        self.expect('[', "")?;
        let mut items = Vec::new();
        while !self.takes(']') {
            if !items.is_empty() {
                self.expect(',', "a comma separates elements, and a bracket ends the list")?;
                if self.takes(']') {
                    break;
                }
            }
            items.push(self.value(depth + 1)?);
        }
        Ok(TypedValue::List(at, items))
    }

    /// A string in quotes, in which a backslash stands before a quote or a backslash.
    fn quoted(&mut self, quote: char) -> Result<Word, SyntaxError> {
        let at = self.at;
        let mut text = String::new();
        let mut escaped = false;
        for (offset, character) in self.rest().char_indices().skip(1) {
            if !escaped && character == quote {
                self.at += offset + quote.len_utf8();
                return Ok(Word { at, text });
            }
            escaped = !escaped && character == '\\';
            if !escaped {
                text.push(character);
            }
        }
        Err(self.wrong("the string has no end", &format!("a {quote} ends it")))
    }
}

/// What a misspelt name should be: the nearest known one, otherwise all of them.
pub(super) fn one_of<'a>(name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(name, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("one of {} is expected", known.into_iter().collect::<Vec<_>>().join(" ")),
    }
}
