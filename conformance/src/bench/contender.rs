//! A backend that takes part: its process, and how it says a workload.

use gather_benches::Workload;
use gather_spec::signature::OperandRole;
use gather_spec::{Call, Outcome, Roles, Signature, Signatures, Tensor, Variant};

use gather_conformance::backend::{Capability, Description, Identity};
use gather_conformance::internals::interrupt;
use gather_conformance::internals::judge::Verdict;
use gather_conformance::internals::process::{Broken, ProcessBackend, Timer, Timing};
use gather_conformance::internals::trouble::Trouble;
use gather_conformance::protocol::{
    CallMessage, Command, OperandMessages, OutputMemory, TensorMessage, TimeMessage,
};

use super::operands::OperandFiles;
use super::plausible::implausible;

/// How workloads are measured.
#[derive(Clone, Debug)]
pub(crate) struct TimingSettings {
    /// How often each contender has its turn.
    pub(crate) turns: u32,
    /// The rounds of a turn.
    pub(crate) rounds: u32,
    /// The least duration of a round, in nanoseconds.
    pub(crate) min_round_ns: u64,
    /// The threads of the floor.
    pub(crate) threads: usize,
    /// Where outputs go.
    pub(crate) outputs: Vec<OutputMemory>,
}

/// A backend in a process of its own.
pub(crate) struct Contender {
    /// Its name on the command line.
    pub(crate) name: String,
    timer: Timer,
    seq: u64,
    /// Why it is asked nothing any more: its process ended, hung, broke the protocol or changed its inputs.
    pub(crate) ended: Option<String>,
    /// Whether it gave a wrong output or changed its inputs.
    pub(crate) is_wrong: bool,
}

/// A call as a backend is asked it.
#[derive(Clone, Debug)]
pub(super) struct OperatorCall {
    pub(super) call: Call,
    /// The operator's names of params and indices.
    names: [String; 2],
}

impl OperatorCall {
    /// The operands as they are sent: params and indices in their files.
    fn operands(&self, on: &OperandFiles) -> OperandMessages {
        let message = |(name, tensor): (&str, &Tensor)| match self.names.iter().position(|one| one == name) {
            Some(number) => (name.to_owned(), on.messages[number].clone()),
            None => (name.to_owned(), TensorMessage::new(tensor)),
        };
        OperandMessages(self.call.operands.iter().map(message).collect())
    }
}

impl Contender {
    /// Starts the process of a backend.
    ///
    /// # Errors
    /// [`Broken`] if it cannot be started.
    pub(crate) fn start(name: String, backend: &ProcessBackend) -> Result<Self, Broken> {
        Ok(Self { name, timer: Timer::start(backend)?, seq: 0, ended: None, is_wrong: false })
    }

    /// What the backend says of itself.
    pub(crate) const fn identity(&self) -> &Identity {
        &self.timer.description().backend
    }

    /// The call of the first operator that the backend declares and that can say the workload. One that declares the
    /// workload's own policies goes before the others.
    pub(super) fn call(
        &self,
        all: &Signatures,
        workload: &Workload,
        on: &OperandFiles,
    ) -> Option<OperatorCall> {
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
    pub(super) fn answer(&mut self, asked: &OperatorCall, on: &OperandFiles) -> Result<Outcome, String> {
        self.seq += 1;
        let answer = self.timer.call(&CallMessage {
            cmd: Command::Call,
            seq: self.seq,
            operator: asked.call.operator.clone(),
            operands: asked.operands(on),
            attributes: asked.call.attributes.clone(),
            variant: Variant::default(),
        });
        answer.map_err(|trouble| self.end(&trouble))
    }

    /// Times a call whose output has this many bytes.
    ///
    /// # Errors
    /// Why the backend has [ended](Self::ended), which it has after durations that cannot be.
    pub(super) fn time(
        &mut self,
        asked: &OperatorCall,
        on: &OperandFiles,
        output: OutputMemory,
        TimingSettings { rounds, min_round_ns, .. }: &TimingSettings,
        output_bytes: usize,
    ) -> Result<Timing, String> {
        let (rounds, min_round_ns) = (*rounds, *min_round_ns);
        self.seq += 1;
        let timing = self.timer.time(&TimeMessage {
            cmd: Command::Time,
            seq: self.seq,
            operator: asked.call.operator.clone(),
            operands: asked.operands(on),
            attributes: asked.call.attributes.clone(),
            rounds,
            min_round_ns,
            // The processors that the process may use limit its threads.
            threads: None,
            output,
        });
        let timing = timing.and_then(|timing| match &timing {
            Timing::Timed(reply, took) => {
                match implausible(&reply.nanoseconds, min_round_ns, output_bytes, *took) {
                    Some(why) => Err(Trouble { verdict: Verdict::ProtocolError, what: why }),
                    None => Ok(timing),
                }
            }
            Timing::Instead(_) => Ok(timing),
        });
        timing.map_err(|trouble| self.end(&trouble))
    }

    /// Notes why the backend is asked nothing any more. What it does after an interruption is no fault of its own.
    fn end(&mut self, trouble: &Trouble) -> String {
        if interrupt::requested() {
            return "interrupted".to_owned();
        }
        self.exclude(format!("{} ({})", trouble.what, trouble.verdict))
    }

    /// Ends the process, which is asked nothing any more.
    pub(super) fn exclude(&mut self, why: String) -> String {
        self.timer.end();
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
    on: &OperandFiles,
    signature: &Signature,
    capability: &Capability,
) -> Option<OperatorCall> {
    let roles = Roles::new(&on.params, &on.indices);
    if !capability.covers(&roles) {
        return None;
    }
    let call = workload.call_of(signature, capability.profile, roles.cloned())?;
    let names =
        [OperandRole::Params, OperandRole::Indices].map(|role| signature.operand(role).name.to_string());
    Some(OperatorCall { call, names })
}
