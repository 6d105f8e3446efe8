//! A loaded library, and the only place that calls its functions.

use std::mem::ManuallyDrop;
use std::path::Path;

use gather_spec::{Call, Outcome};

use super::abi;
use super::arguments::Arguments;
use super::read;
use crate::backend::Description;
use crate::protocol::Fault;
use crate::serve::{Answering, NoAnswer};

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
        // SAFETY: whoever names a library wants its code to be run, and this process has no other purpose: what its
        // initialisers break is this process.
        let loaded = unsafe { libloading::Library::new(path) };
        let loaded = loaded.map_err(|error| format!("it cannot be loaded: {}", whole(&error)))?;
        // Never unloaded: threads that the library has started run its code until this process ends.
        let loaded = ManuallyDrop::new(loaded);
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
        let broken = |wrong: String| {
            no_answer(Fault::BrokenContract, format!("the library breaks its contract: {wrong}"))
        };
        let mut arguments = Arguments::new(call).map_err(|what| NoAnswer { fault: None, what })?;
        let mut reply = abi::Reply::blank();
        // SAFETY: `arguments` and all that they point to live until the end of this function, `reply` is this function's
        // own, and both are laid out as in the header.
        unsafe { (self.call)(arguments.for_library(), &raw mut reply) };
        // SAFETY: until `release`, what a reply points to is valid by the header's contract. All of it is copied.
        let outcome = unsafe { read::outcome(&reply) };
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
