//! A loaded library, and the only place that calls its functions.

use std::mem::ManuallyDrop;
use std::path::Path;

use gather_spec::{Call, Outcome, Tensor};

use super::abi;
use super::arguments::{Arguments, CallTexts, LibraryCall};
use super::operand::OperandSource;
use super::{guarded, read};
use gather_conformance::backend::Description;
use gather_conformance::protocol::{CallMessage, Fault, TensorMessage, Unusable};
use gather_conformance::serve::{Answering, NoAnswer};

/// Operands in files of more bytes are mapped, not copied. Smaller ones get guards at their very end.
const MAPPED: usize = 16 << 20;

/// A library that has described itself.
#[derive(Debug)]
pub(super) struct Library {
    call: unsafe extern "C" fn(*const abi::Call, *mut abi::Reply),
    release: unsafe extern "C" fn(*mut abi::Reply),
    description: Description,
}

impl Library {
    /// Loads a library and reads its description.
    ///
    /// # Errors
    /// What is missing, or wrong with the description.
    pub(super) fn load(path: &Path) -> Result<Self, String> {
        if cfg!(target_endian = "big") {
            return Err("libraries are run on little-endian machines only".to_owned());
        }
        // SAFETY: the user who names a library wants its code to run, and this process has no other purpose:
        // its initialisers can break this process only.
        let loaded = unsafe { libloading::Library::new(path) };
        let loaded = loaded.map_err(|error| format!("it cannot be loaded: {}", whole(&error)))?;
        // Never unloaded: threads that the library has started run its code until this process ends.
        let loaded = ManuallyDrop::new(loaded);
        guarded::watch();
        // SAFETY: the header gives these functions their types, and a library that exports the names has read it.
        let (abi, describe, call, release) = unsafe {
            (
                symbol::<unsafe extern "C" fn() -> u32>(&loaded, "gatherspec_abi")?,
                symbol::<unsafe extern "C" fn() -> *const abi::Description>(&loaded, "gatherspec_describe")?,
                symbol(&loaded, "gatherspec_call")?,
                symbol(&loaded, "gatherspec_release")?,
            )
        };
        // SAFETY: it takes nothing, and the library is loaded.
        let version = unsafe { abi() };
        if version != abi::ABI {
            return Err(format!(
                "it speaks version {version} of gatherspec.h, this program speaks {}",
                abi::ABI
            ));
        }
        // SAFETY: the version is the one that the types here are of; what the function returns keeps the contract of
        // the header: it stays valid while the library is loaded, which is until this process ends.
        let description = unsafe { read::description(describe()) };
        let description = description.map_err(|wrong| format!("gatherspec_describe: {wrong}"))?;
        Ok(Self { call, release, description })
    }
}

impl Answering for Library {
    fn describe(&self) -> Description {
        self.description.clone()
    }

    fn answer(&mut self, call: &Call) -> Result<Outcome, NoAnswer> {
        self.ask(call.into())
    }

    fn answer_message(&mut self, message: &CallMessage) -> Result<Result<Outcome, NoAnswer>, Unusable> {
        let operands = &message.operands.0;
        let read =
            operands.iter().map(|(name, operand)| read_small(operand).map_err(|why| why.in_operand(name)));
        let read: Vec<SmallTensor> = read.collect::<Result<_, _>>()?;
        let sources = operands.iter().zip(&read).map(|((name, operand), small)| {
            small.source(operand).map(|source| (name.as_str(), source)).map_err(|why| why.in_operand(name))
        });
        let request = LibraryCall {
            operator: &message.operator,
            operands: sources.collect::<Result<_, _>>()?,
            attributes: &message.attributes,
            variant: &message.variant,
        };
        Ok(self.ask(request))
    }
}

/// A tensor, unless it is in a file that is large enough to be mapped.
struct SmallTensor(Option<Tensor>);

fn read_small(operand: &TensorMessage) -> Result<SmallTensor, Unusable> {
    let mapped = operand.is_in_file_above(MAPPED)?;
    Ok(SmallTensor(if mapped { None } else { Some(operand.tensor()?) }))
}

impl SmallTensor {
    fn source<'a>(&'a self, operand: &'a TensorMessage) -> Result<OperandSource<'a>, Unusable> {
        match &self.0 {
            Some(tensor) => Ok(OperandSource::Tensor(tensor)),
            None => {
                let (file, offset, length) = operand.open()?;
                Ok(OperandSource::File { dtype: operand.dtype, shape: &operand.shape, file, offset, length })
            }
        }
    }
}

impl Library {
    fn ask(&mut self, request: LibraryCall<'_>) -> Result<Outcome, NoAnswer> {
        let broken = |wrong: String| {
            no_answer(Fault::BrokenContract, format!("the library breaks its contract: {wrong}"))
        };
        let texts = CallTexts::of(&request).map_err(|what| NoAnswer { fault: None, what })?;
        // That this side has no memory for operands is no fault of the message or the library.
        let mut arguments = match Arguments::new(request, texts) {
            Ok(arguments) => arguments,
            Err(why) => return Ok(Outcome::Unsupported(why)),
        };
        let mut reply = abi::Reply::blank();
        // SAFETY: `arguments` and all that they point to live until the end of this function, `reply` is this function's
        // own, and both are laid out as in the header.
        unsafe { (self.call)(arguments.for_library(), &raw mut reply) };
        // SAFETY: until `release`, what a reply points to is valid by the header's contract. All of it is copied.
        let outcome = unsafe { read::outcome(&reply, &arguments) };
        // SAFETY: `reply` is as the library left it, and nothing that it points to is used any more.
        unsafe { (self.release)(&raw mut reply) };
        match arguments.changed() {
            Some(what) => {
                Err(no_answer(Fault::InputChanged, format!("the library changed its input: {what}")))
            }
            None => outcome.map_err(broken),
        }
    }
}

fn no_answer(fault: Fault, what: String) -> NoAnswer {
    NoAnswer { fault: Some(fault), what }
}

/// A function of a library.
///
/// # Safety
/// `T` is the type of the function of that name, and the library is never unloaded.
unsafe fn symbol<T: Copy>(library: &libloading::Library, name: &str) -> Result<T, String> {
    // SAFETY: the caller's promise.
    let found = unsafe { library.get::<T>(name.as_bytes()) };
    found.map(|found| *found).map_err(|error| format!("it exports no {name}: {}", whole(&error)))
}

/// An error message with its causes.
fn whole(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
