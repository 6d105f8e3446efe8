//! Finds and kills the processes that a backend leaves behind. A process that starts its own session escapes
//! the signals to its group. On Linux it is found all the same: this process adopts orphans, and recognises
//! those of a backend by a variable that they inherit.
//!
//! An orphan becomes a direct child of this process. Only direct children are killed: the system cannot reuse
//! their ids before this process reaps them. Orphans that have ended are reaped from time to time, so that
//! they do not fill the process table. On other systems only the group is killed.

#[cfg(target_os = "linux")]
pub(super) use linux::{Descendants, adopt, end_all, forget, kill_all, reap, spawn};
#[cfg(not(target_os = "linux"))]
pub(super) use portable::{Descendants, adopt, end_all, forget, kill_all, reap, spawn};

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashSet;
    use std::ffi::OsString;
    use std::io;
    use std::process::{Child, Command};
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Mutex, OnceLock, PoisonError};
    use std::time::{Duration, Instant};

    use rustix::io::Errno;
    use rustix::process::{
        Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpgrp, getpid, kill_process, set_child_subreaper,
        waitid, waitpid,
    };

    /// The environment variable that every descendant of a backend inherits.
    const VARIABLE: &str = "GATHERSPEC_FAMILY";

    /// How long to chase orphans that start others faster than they are found.
    const LIMIT: Duration = Duration::from_secs(5);

    /// The time between two searches for orphans that have ended, in milliseconds.
    const REAP: u64 = 50;

    /// The first processes of backends. Their owners reap them.
    static BACKENDS: Mutex<Option<HashSet<i32>>> = Mutex::new(None);

    /// Starts the first process of a backend.
    pub(in crate::process) fn spawn(command: &mut Command) -> io::Result<Child> {
        // Holds the lock meanwhile, so that `reap` does not take a process that ends at once for an orphan.
        let mut backends = BACKENDS.lock().unwrap_or_else(PoisonError::into_inner);
        let child = command.spawn()?;
        backends.get_or_insert_default().insert(Pid::from_child(&child).as_raw_pid());
        Ok(child)
    }

    /// Records that the first process of a backend has been reaped.
    pub(in crate::process) fn forget(id: u32) {
        let mut backends = BACKENDS.lock().unwrap_or_else(PoisonError::into_inner);
        backends.iter_mut().for_each(|backends| backends.retain(|backend| backend.cast_unsigned() != id));
    }

    /// Reaps the orphans that have ended, unless it did so a moment ago. A child in the group of this process
    /// was started by other code here, which reaps it.
    pub(in crate::process) fn reap() {
        static START: OnceLock<Instant> = OnceLock::new();
        static NEXT: AtomicU64 = AtomicU64::new(0);
        if BEFORE.get().is_none() {
            // Without `adopt`, all children belong to other code.
            return;
        }
        let millis = || START.get_or_init(Instant::now).elapsed().as_millis();
        let now = u64::try_from(millis()).unwrap_or(u64::MAX);
        if now < NEXT.load(Ordering::Relaxed) {
            return;
        }
        NEXT.store(now + REAP, Ordering::Relaxed);
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        if !matches!(waitid(WaitId::All, look), Ok(Some(_))) {
            return;
        }
        // Never waits for a spawn in progress: a later call reaps.
        let Ok(backends) = BACKENDS.try_lock() else { return };
        let (group, all) = (getpgrp().as_raw_pid(), processes());
        let known = |id| backends.iter().flatten().any(|backend| *backend == id);
        let ended = children(&all).filter(|it| it.has_ended && it.group != group && !known(it.id));
        for orphan in ended.filter_map(|it| Pid::from_raw(it.id)) {
            let _ = waitpid(Some(orphan), WaitOptions::NOHANG);
        }
    }

    /// Makes this process the parent of orphaned descendants from now on.
    pub(in crate::process) fn adopt() {
        BEFORE.get_or_init(|| children(&processes()).map(|it| (it.id, it.start)).collect());
        // Every current Linux supports this. If it failed, a process in its own session would survive.
        let _ = set_child_subreaper(Some(getpid()));
    }

    /// Children from before the first backend, which survive `exec`. None belongs to a backend.
    static BEFORE: OnceLock<HashSet<(i32, u64)>> = OnceLock::new();

    /// The children of this process.
    fn children(all: &[Process]) -> impl Iterator<Item = &Process> {
        let own = getpid().as_raw_pid();
        all.iter().filter(move |it| it.parent == own)
    }

    /// The descendants of one backend.
    #[derive(Debug)]
    pub(in crate::process) struct Descendants {
        token: String,
        /// Descendants seen while it was alive. They may have dropped the variable since.
        seen: HashSet<(i32, u64)>,
    }

    impl Descendants {
        pub(in crate::process) fn new() -> Self {
            static NEXT: AtomicU64 = AtomicU64::new(0);
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            Self { token: format!("{}-{number}", getpid().as_raw_pid()), seen: HashSet::new() }
        }

        /// The variable for the environment of its first process.
        pub(in crate::process) fn mark(&self) -> (OsString, OsString) {
            (VARIABLE.into(), (&self.token).into())
        }

        /// Records the descendants of the first process, before it ends.
        pub(in crate::process) fn look(&mut self, first: u32) {
            let all = processes();
            if let Ok(first) = i32::try_from(first) {
                self.remember_below(first, &all);
            }
        }

        fn remember_below(&mut self, top: i32, all: &[Process]) {
            let mut parents = HashSet::from([top]);
            // Children may be listed before their parents, so repeat until nothing is new.
            while let Some(child) =
                all.iter().find(|it| parents.contains(&it.parent) && !parents.contains(&it.id))
            {
                parents.insert(child.id);
                self.seen.insert((child.id, child.start));
            }
        }

        /// Kills and reaps those that are left, after the first process has been reaped.
        pub(in crate::process) fn end(mut self) {
            end_children(|child, all| {
                let own = self.seen.contains(&(child.id, child.start)) || carries(child.id, &self.token);
                if own {
                    self.remember_below(child.id, all);
                }
                own
            });
        }
    }

    /// Kills and reaps all children that this process gained since [`adopt`], including adopted ones.
    pub(in crate::process) fn end_all() {
        if let Some(before) = BEFORE.get() {
            end_children(|child, _| !before.contains(&(child.id, child.start)));
        }
    }

    /// Kills the children that [`end_all`] ends. Their owners reap them.
    pub(in crate::process) fn kill_all() {
        let all = processes();
        let known = |it: &&Process| BEFORE.get().is_some_and(|before| before.contains(&(it.id, it.start)));
        for child in children(&all).filter(|it| !known(it)).filter_map(|it| Pid::from_raw(it.id)) {
            let _ = kill_process(child, Signal::KILL);
        }
    }

    /// Kills and reaps chosen children until none is left. Their children become those of this process in
    /// turn. A child that this process may not signal is left alone.
    fn end_children(mut chosen: impl FnMut(&Process, &[Process]) -> bool) {
        let deadline = Instant::now() + LIMIT;
        let mut out_of_reach: HashSet<Pid> = HashSet::new();
        while Instant::now() < deadline {
            let all = processes();
            let left = children(&all).filter(|it| chosen(it, &all)).filter_map(|it| Pid::from_raw(it.id));
            let left: Vec<Pid> = left.filter(|child| !out_of_reach.contains(child)).collect();
            if left.is_empty() {
                return;
            }
            for child in left {
                if kill_process(child, Signal::KILL) == Err(Errno::PERM) {
                    out_of_reach.insert(child);
                }
                let _ = waitpid(Some(child), WaitOptions::NOHANG);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// A process as `/proc` lists it.
    #[derive(Debug)]
    struct Process {
        id: i32,
        parent: i32,
        group: i32,
        /// Whether it is a zombie.
        has_ended: bool,
        /// When it was started, which distinguishes it from another with the same id.
        start: u64,
    }

    fn processes() -> Vec<Process> {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| process(entry.file_name().to_str()?.parse().ok()?)).collect()
    }

    fn process(id: i32) -> Option<Process> {
        let stat = std::fs::read(format!("/proc/{id}/stat")).ok()?;
        // The name of the program, in parentheses, may contain spaces and parentheses itself.
        let after = stat.iter().rposition(|byte| *byte == b')')? + 1;
        let text = String::from_utf8_lossy(&stat[after..]).into_owned();
        let fields: Vec<&str> = text.split_whitespace().collect();
        Some(Process {
            id,
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            has_ended: *fields.first()? == "Z",
            start: fields.get(19)?.parse().ok()?,
        })
    }

    /// Whether a process has inherited this token.
    fn carries(id: i32, token: &str) -> bool {
        let entry = format!("{VARIABLE}={token}");
        let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == entry.as_bytes())
    }
}

#[cfg(not(target_os = "linux"))]
mod portable {
    use std::ffi::OsString;
    use std::io;
    use std::process::{Child, Command};

    pub(in crate::process) fn adopt() {}

    pub(in crate::process) fn end_all() {}

    pub(in crate::process) fn kill_all() {}

    pub(in crate::process) fn reap() {}

    pub(in crate::process) fn forget(_id: u32) {}

    pub(in crate::process) fn spawn(command: &mut Command) -> io::Result<Child> {
        command.spawn()
    }

    #[derive(Debug)]
    pub(in crate::process) struct Descendants;

    impl Descendants {
        pub(in crate::process) fn new() -> Self {
            Self
        }

        pub(in crate::process) fn mark(&self) -> (OsString, OsString) {
            ("GATHERSPEC_FAMILY".into(), "".into())
        }

        pub(in crate::process) fn look(&mut self, _first: u32) {}

        pub(in crate::process) fn end(self) {}
    }
}
