//! What the formats share: which runs are tests, where they are written, and their names.

use std::io;

use gather_spec::case::Allowed;
use gather_spec::{ErrorCode, Profile, Run, Signature, Tensor};

use super::folder::Folder;
use super::format::Format;
use super::manifest::{Manifest, Test, sha256};

/// What writes the tests of a format.
pub(super) trait Tests {
    /// Adds the test of a run, or notes why there is none.
    fn add(&mut self, run: &Run, to: &mut Export<'_>) -> io::Result<()>;

    /// Writes what is left.
    fn finish(&mut self, _: &mut Export<'_>) -> io::Result<()> {
        Ok(())
    }
}

/// The folder of an export, and what stands in its manifest.
pub(super) struct Export<'f> {
    pub(super) folder: &'f Folder,
    pub(super) format: Format,
    pub(super) manifest: Manifest,
}

impl Export<'_> {
    /// The output of a run, if the pages allow nothing else. Otherwise the manifest says so; it lists those runs of the format's own
    /// operators that must be refused.
    pub(super) fn only_output(&mut self, run: &Run) -> Option<Tensor> {
        match Answer::of(&run.case.signature, run) {
            Answer::Output(output) => return Some(output),
            Answer::Refused(code) if self.format.is_own(&run.call.operator) => {
                self.manifest.refuse(run, code);
            }
            Answer::Refused(_) => {
                self.manifest.leave_out(run, "they must be refused, and are no calls of the format's own");
            }
            Answer::Open => self.manifest.leave_out(run, "the pages allow more than one outcome"),
        }
        None
    }

    /// Writes a file of tests.
    pub(super) fn put(
        &mut self,
        name: String,
        text: &str,
        constants: bool,
        runs: Vec<String>,
    ) -> io::Result<()> {
        self.folder.put(&name, text.as_bytes())?;
        self.manifest.tests.push(Test { name, sha256: sha256(text.as_bytes()), constants, runs });
        Ok(())
    }
}

/// What the pages say of a run.
enum Answer {
    /// One output, under every policy that they permit.
    Output(Tensor),
    /// An error under every such policy, with the code that the first one names.
    Refused(Option<ErrorCode>),
    /// Anything else.
    Open,
}

impl Answer {
    fn of(page: &Signature, run: &Run) -> Self {
        let profiles: Vec<Profile> = match page.permitted() {
            Some(permitted) => {
                let of =
                    |bad| permitted.negative.iter().map(move |negative| Profile { bad, negative: *negative });
                permitted.bad.iter().copied().flat_map(of).collect()
            }
            // The arms of a run with a mode are those of its mode.
            None => vec![Profile::default()],
        };
        let allowed: Vec<Allowed> = profiles.iter().flat_map(|profile| run.expect.under(*profile)).collect();
        match allowed.first() {
            Some(Allowed::Output(output)) if allowed.iter().all(|one| *one == allowed[0]) => {
                Self::Output(output.clone())
            }
            Some(_) if allowed.iter().all(|one| matches!(one, Allowed::Error(..) | Allowed::AnyError)) => {
                Self::Refused(allowed.iter().find_map(|one| match one {
                    Allowed::Error(code, _) => Some(*code),
                    _ => None,
                }))
            }
            _ => Self::Open,
        }
    }
}

/// A name of a file or folder for a run: its id in small letters, digits and underscores.
pub(super) fn slug(run: &str) -> String {
    let plain = |one: char| if one.is_ascii_alphanumeric() { one.to_ascii_lowercase() } else { '_' };
    run.trim_end_matches(']').chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(id: &str) -> Answer {
        let spec = crate::embedded();
        let run = spec.run(id).expect(id);
        Answer::of(&run.case.signature, &run)
    }

    #[test]
    fn only_an_output_under_every_permitted_policy_is_the_answer() {
        assert!(matches!(answer("onnx.Gather-13/bad-index/minus-one"), Answer::Output(_)));
        // An error or zeros, by the device.
        assert!(matches!(answer("tf.gather_nd/bad-index/vector-alone-far-outside"), Answer::Open));
        assert!(matches!(
            answer("onnx.Gather-13/axis/equal-to-rank"),
            Answer::Refused(Some(ErrorCode::AxisOutOfRange))
        ));
    }

    #[test]
    fn a_name_has_nothing_that_a_file_system_refuses() {
        assert_eq!(slug("onnx.Gather-13/rows/one[f32,n=3]"), "onnx_gather_13_rows_one_f32_n_3");
    }
}
