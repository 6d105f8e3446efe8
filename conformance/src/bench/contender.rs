//! A backend that takes part: its process, and how it says a workload.

use gather_benches::Workload;
use gather_spec::signature::OperandRole;
use gather_spec::{Call, Outcome, Roles, Signature, Signatures, Tensor};

use crate::backend::{Capability, Description, Identity};
use crate::process::{Broken, ProcessBackend, Timer, Timing, Trouble};
use crate::protocol::{CallMessage, Command, OperandMessages, OutputMemory, TensorMessage, TimeMessage};

/// A backend in a process of its own.
pub(crate) struct Contender {
    /// Its name on the command line.
    pub(crate) name: String,
    timer: Timer,
    seq: u64,
    /// Why it is asked nothing any more: its process ended, hung or broke the protocol.
    pub(crate) ended: Option<String>,
}

/// A call as a backend is asked it, with its large tensors in files.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) call: Call,
    operands: OperandMessages,
}

/// Params and indices of a workload, and the messages that name the files with their elements.
pub(super) struct Operands {
    pub(super) params: Tensor,
    pub(super) indices: Tensor,
    pub(super) messages: [TensorMessage; 2],
}

impl Operands {
    /// Makes room for the next workload. What cannot be removed goes with the folder.
    pub(super) fn remove_files(&self) {
        self.messages.iter().filter_map(|message| message.file.as_ref()).for_each(|file| {
            let _ = std::fs::remove_file(file);
        });
    }
}

impl Contender {
    /// Starts the process of a backend.
    ///
    /// # Errors
    /// [`Broken`] if it cannot be started.
    pub(crate) fn start(name: String, backend: &ProcessBackend) -> Result<Self, Broken> {
        Ok(Self { name, timer: Timer::start(backend)?, seq: 0, ended: None })
    }

    /// What the backend says of itself.
    pub(crate) const fn identity(&self) -> &Identity {
        &self.timer.description().backend
    }

    /// The call of the first operator that the backend declares and that can say the workload. One that declares the
    /// workload's own policies goes before the others.
    pub(super) fn call(&self, all: &Signatures, workload: &Workload, on: &Operands) -> Option<Asked> {
        let Description { operators, .. } = self.timer.description();
        let declared = all.iter().filter_map(|signature| {
            let capability = operators.get(signature.operator.as_str())?;
            Some((signature, capability))
        });
        let (same, others): (Vec<_>, Vec<_>) = declared.partition(|(signature, capability)| {
            let chosen_by_call = signature.modes().iter().any(|mode| mode.profile == workload.policy);
            chosen_by_call || signature.permitted().is_some() && capability.profile == workload.policy
        });
        same.into_iter().chain(others).find_map(|(signature, of)| asked(workload, on, signature, of))
    }

    /// Asks a call once.
    ///
    /// # Errors
    /// Why the backend has [ended](Self::ended).
    pub(super) fn answer(&mut self, asked: &Asked) -> Result<Outcome, String> {
        self.seq += 1;
        let answer = self.timer.call(&CallMessage {
            cmd: Command::Call,
            seq: self.seq,
            operator: asked.call.operator.clone(),
            operands: asked.operands.clone(),
            attributes: asked.call.attributes.clone(),
        });
        answer.map_err(|trouble| self.end(&trouble))
    }

    /// Times a call.
    ///
    /// # Errors
    /// Why the backend has [ended](Self::ended).
    pub(super) fn time(
        &mut self,
        asked: &Asked,
        output: OutputMemory,
        rounds: u32,
        min_round_ns: u64,
    ) -> Result<Timing, String> {
        self.seq += 1;
        let timing = self.timer.time(&TimeMessage {
            cmd: Command::Time,
            seq: self.seq,
            operator: asked.call.operator.clone(),
            operands: asked.operands.clone(),
            attributes: asked.call.attributes.clone(),
            rounds,
            min_round_ns,
            // The processors that the process may use limit its threads.
            threads: None,
            output,
        });
        timing.map_err(|trouble| self.end(&trouble))
    }

    fn end(&mut self, trouble: &Trouble) -> String {
        let why = format!("{} ({})", trouble.what, trouble.verdict);
        self.ended = Some(why.clone());
        why
    }

    /// Asks the process to stop.
    pub(crate) fn stop(self) {
        self.timer.stop();
    }
}

/// The call of this operator, if it can say the workload and the backend declares the dtypes.
fn asked(
    workload: &Workload,
    on: &Operands,
    signature: &Signature,
    capability: &Capability,
) -> Option<Asked> {
    let roles = Roles::new(&on.params, &on.indices);
    if !capability.covers(&roles) {
        return None;
    }
    let call = workload.call_of(signature, capability.profile, roles.cloned())?;
    let name = |role| &*signature.operand(role).name;
    let message = |operand: &str, tensor: &Tensor| match operand {
        operand if operand == name(OperandRole::Params) => on.messages[0].clone(),
        operand if operand == name(OperandRole::Indices) => on.messages[1].clone(),
        _ => TensorMessage::new(tensor),
    };
    let operands = call.operands.iter().map(|(name, tensor)| (name.to_owned(), message(name, tensor)));
    let operands = OperandMessages(operands.collect());
    Some(Asked { call, operands })
}
