//! Memory of operands that a library can read and nothing more: read-only pages between inaccessible ones.
//!
//! A write to an operand raises a signal. The handler notes it, makes the pages writable and lets the write go on, so the
//! library answers its call and the verdict is `input-changed`. Files are mapped privately, so they never change. Any other
//! fault ends the process; if it lies near an operand, the handler first says on standard error which one and how far off.
//! A handler that was there before, such as AddressSanitizer's, runs after ours.

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd as _;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering::SeqCst};

/// The inaccessible bytes on each side: a whole number of pages on every system.
const GUARD: usize = 64 << 10;

/// What the accessible bytes around the elements are filled with.
const FILLER: u8 = 0xA5;

/// How many writes to one operand are let through. Threads may each raise one; more would be a loop.
const MOST_WRITES: usize = 1000;

/// The elements of an operand.
#[derive(Debug)]
pub(super) struct Guarded {
    /// The whole reservation, guards included.
    base: *mut c_void,
    total: usize,
    start: *const u8,
    length: usize,
    /// None if there are more operands than slots.
    slot: Option<&'static Slot>,
}

impl Guarded {
    /// A copy of `bytes`. The elements end at the inaccessible pages, unless that would align them better than `align`: then
    /// every other call, by its content, has them at exactly that alignment instead.
    pub(super) fn copy(name: &str, bytes: &[u8], align: usize) -> io::Result<Self> {
        let size = round_up(bytes.len(), page());
        let spare = size - bytes.len();
        let too_aligned = spare.is_multiple_of(2 * align);
        // A few bytes are enough to differ from call to call, and the same call always gets the same memory.
        let odd =
            bytes.iter().take(256).fold(bytes.len(), |sum, byte| sum.wrapping_add((*byte).into())) % 2 == 1;
        let at = if too_aligned && odd && spare >= align { align } else { spare };
        let mut this = Self::reserve(size)?;
        // SAFETY: the pages between the guards are this function's own until it returns.
        let filled = unsafe {
            let low = this.base.cast::<u8>().add(GUARD);
            protect(low.cast(), size, libc::PROT_READ | libc::PROT_WRITE).and_then(|()| {
                // Everything in `size` bytes from `low`, which are writable: `at + bytes.len()` is at most `size`.
                let most = 4096;
                let before = at.min(most);
                low.add(at - before).write_bytes(FILLER, before);
                let end = at + bytes.len();
                low.add(end).write_bytes(FILLER, (size - end).min(most));
                ptr::copy_nonoverlapping(bytes.as_ptr(), low.add(at), bytes.len());
                protect(low.cast(), size, libc::PROT_READ)
            })
        };
        filled?;
        this.settle(name, size, at, bytes.len());
        Ok(this)
    }

    /// `length` bytes of a file, from `offset` on.
    pub(super) fn map(name: &str, file: &File, offset: u64, length: usize) -> io::Result<Self> {
        let wrong = || io::Error::from(io::ErrorKind::InvalidInput);
        let at = usize::try_from(offset % page() as u64).map_err(|_| wrong())?;
        let first = libc::off_t::try_from(offset - at as u64).map_err(|_| wrong())?;
        let size = round_up(at.checked_add(length).ok_or_else(wrong)?, page());
        let mut this = Self::reserve(size)?;
        if size > 0 {
            // SAFETY: the pages replaced are this function's own, and nothing refers to them yet.
            let mapped = unsafe {
                let low = this.base.cast::<u8>().add(GUARD).cast();
                // Without a reservation, a write can make gigabytes of pages writable where memory is less than that.
                let flags = libc::MAP_PRIVATE | libc::MAP_FIXED | libc::MAP_NORESERVE;
                libc::mmap(low, size, libc::PROT_READ, flags, file.as_raw_fd(), first)
            };
            if mapped == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
        }
        this.settle(name, size, at, length);
        Ok(this)
    }

    /// Reserves `size` bytes and both guards, all inaccessible.
    fn reserve(size: usize) -> io::Result<Self> {
        let total = size.checked_add(2 * GUARD).ok_or(io::ErrorKind::OutOfMemory)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping, at an address that the system chooses, replaces none.
        let base = unsafe { libc::mmap(ptr::null_mut(), total, libc::PROT_NONE, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { base, total, start: ptr::null(), length: 0, slot: None })
    }

    /// Notes where the elements are, and lets the handler know.
    fn settle(&mut self, name: &str, size: usize, at: usize, length: usize) {
        let low = self.base.cast::<u8>().wrapping_add(GUARD);
        (self.start, self.length) = (low.wrapping_add(at), length);
        self.slot = SLOTS.iter().find(|slot| slot.take(name, low.addr(), size, at, length));
    }

    pub(super) const fn start(&self) -> *const u8 {
        self.start
    }

    /// The addresses of the elements.
    pub(super) fn addresses(&self) -> Range<usize> {
        self.start.addr()..self.start.addr() + self.length
    }

    /// Whether the library wrote to it.
    pub(super) fn was_written(&self) -> bool {
        self.slot.is_some_and(|slot| slot.writes.load(SeqCst) > 0)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            slot.taken.store(false, SeqCst);
        }
        // SAFETY: the mapping is this value's own, and pointers into it are used only during the call it was made for.
        unsafe { libc::munmap(self.base, self.total) };
    }
}

/// What the handler knows of an operand. All of it is atomic, since the handler can run at any time on any thread.
#[derive(Debug)]
struct Slot {
    taken: AtomicBool,
    /// The accessible pages.
    low: AtomicUsize,
    size: AtomicUsize,
    /// The elements.
    start: AtomicUsize,
    length: AtomicUsize,
    writes: AtomicUsize,
    name: [AtomicU8; 32],
}

static SLOTS: [Slot; 16] = [const { Slot::free() }; 16];

impl Slot {
    const fn free() -> Self {
        Self {
            taken: AtomicBool::new(false),
            low: AtomicUsize::new(0),
            size: AtomicUsize::new(0),
            start: AtomicUsize::new(0),
            length: AtomicUsize::new(0),
            writes: AtomicUsize::new(0),
            name: [const { AtomicU8::new(0) }; 32],
        }
    }

    /// Takes this slot if it is free. Only the thread that makes the calls does.
    fn take(&self, name: &str, low: usize, size: usize, at: usize, length: usize) -> bool {
        if self.taken.load(SeqCst) {
            return false;
        }
        for (to, from) in self.name.iter().zip(name.bytes().chain(std::iter::repeat(0))) {
            to.store(from, SeqCst);
        }
        self.low.store(low, SeqCst);
        self.size.store(size, SeqCst);
        self.start.store(low + at, SeqCst);
        self.length.store(length, SeqCst);
        self.writes.store(0, SeqCst);
        self.taken.store(true, SeqCst);
        true
    }

    /// Makes the pages writable if `address` lies in them, which can only be a write.
    fn lets_through(&self, address: usize) -> bool {
        let (low, size) = (self.low.load(SeqCst), self.size.load(SeqCst));
        let inside = self.taken.load(SeqCst) && address.wrapping_sub(low) < size;
        if !inside || self.writes.fetch_add(1, SeqCst) >= MOST_WRITES {
            return false;
        }
        // SAFETY: the pages of a taken slot are mapped by this module, which alone depends on their protection.
        unsafe {
            libc::mprotect(ptr::without_provenance_mut(low), size, libc::PROT_READ | libc::PROT_WRITE) == 0
        }
    }

    /// How far `address` is from the elements, and in which words to say so, if it is in them, in the guards, or no further off
    /// than the operand is long.
    fn distance(&self, address: usize) -> Option<(usize, &'static [u8])> {
        let (start, length) = (self.start.load(SeqCst), self.length.load(SeqCst));
        let end = start.wrapping_add(length);
        let (distance, place): (usize, &[u8]) = if address >= end {
            ((address - end).saturating_add(1), b" past the end of `")
        } else if address >= start {
            (address - start, b" into `")
        } else {
            (start - address, b" before the start of `")
        };
        let is_near = address >= start && address < end || distance <= length.max(GUARD);
        (self.taken.load(SeqCst) && is_near).then_some((distance, place))
    }
}

/// The handlers that were there before, for [`SIGNALS`].
static BEFORE: [OnceLock<libc::sigaction>; 2] = [const { OnceLock::new() }; 2];
const SIGNALS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// Installs the handler. Called once the library is loaded, so that handlers of its runtime run after this one.
pub(super) fn watch() {
    for (signal, before) in SIGNALS.into_iter().zip(&BEFORE) {
        // SAFETY: both structures are plain data, for which zeros are valid. The handler is a function of the type that
        // SA_SIGINFO asks for, and does only what a handler may: atomic loads and stores, mprotect, write, raise and
        // sigaction. SA_ONSTACK keeps reports of stack overflows working.
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, ptr::null(), &raw mut old) != 0 || before.set(old).is_err() {
                continue;
            }
            let mut new: libc::sigaction = std::mem::zeroed();
            new.sa_sigaction = on_fault as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize;
            new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(signal, &raw const new, ptr::null_mut());
        }
    }
}

extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes a valid structure, and a fault (a positive code) has an address.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    // Reading a mapped file that was cut short is SIGBUS on Linux. On macOS a forbidden write can be one.
    let protected = signal == libc::SIGSEGV || cfg!(target_vendor = "apple");
    if code > 0 && protected && SLOTS.iter().any(|slot| slot.lets_through(address)) {
        return;
    }
    if code > 0 {
        report(address);
    }
    let before = SIGNALS.iter().position(|one| *one == signal).and_then(|at| BEFORE[at].get());
    match before {
        Some(before) if before.sa_sigaction != libc::SIG_DFL && before.sa_sigaction != libc::SIG_IGN => {
            // SAFETY: the flag says which of the two types the handler has, and it gets what it would have got.
            unsafe {
                if before.sa_flags & libc::SA_SIGINFO != 0 {
                    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                        std::mem::transmute(before.sa_sigaction);
                    handler(signal, info, context);
                } else {
                    let handler: extern "C" fn(c_int) = std::mem::transmute(before.sa_sigaction);
                    handler(signal);
                }
            }
        }
        // SAFETY: plain calls that a handler may make. The signal is blocked here, so it ends the process on return.
        _ => unsafe {
            let mut default: libc::sigaction = std::mem::zeroed();
            default.sa_sigaction = libc::SIG_DFL;
            libc::sigaction(signal, &raw const default, ptr::null_mut());
            libc::raise(signal);
        },
    }
}

/// Says how far from the nearest operand a fault was, without allocating.
fn report(address: usize) {
    let near = SLOTS
        .iter()
        .filter_map(|slot| slot.distance(address).map(|(distance, place)| (distance, place, slot)));
    let Some((distance, place, slot)) = near.min_by_key(|(distance, ..)| *distance) else { return };
    let mut line = MessageBuffer { bytes: [0; 192], used: 0 };
    line.push(b"gatherspec: memory access ");
    line.push_bytes(distance);
    line.push(place);
    for byte in slot.name.iter().map(|byte| byte.load(SeqCst)).take_while(|byte| *byte != 0) {
        line.push(&[byte]);
    }
    line.push(b"`, which has ");
    line.push_bytes(slot.length.load(SeqCst));
    line.push(b"\n");
    // SAFETY: the bytes are initialized and `used` is at most their number. Nothing can be done if writing fails.
    unsafe { libc::write(2, line.bytes.as_ptr().cast(), line.used) };
}

struct MessageBuffer {
    bytes: [u8; 192],
    used: usize,
}

impl MessageBuffer {
    fn push(&mut self, text: &[u8]) {
        for (to, from) in self.bytes.iter_mut().skip(self.used).zip(text) {
            *to = *from;
            self.used += 1;
        }
    }

    fn push_bytes(&mut self, number: usize) {
        self.push_number(number);
        self.push(if number == 1 { b" byte" } else { b" bytes" });
    }

    fn push_number(&mut self, number: usize) {
        if number > 9 {
            self.push_number(number / 10);
        }
        self.push(&[b"0123456789"[number % 10]]);
    }
}

/// Changes the protection of pages.
///
/// # Safety
/// The pages are the caller's own.
unsafe fn protect(low: *mut c_void, size: usize, protection: c_int) -> io::Result<()> {
    // SAFETY: the caller's promise.
    if size == 0 || unsafe { libc::mprotect(low, size, protection) } == 0 {
        return Ok(());
    }
    Err(io::Error::last_os_error())
}

/// The size of a page.
fn page() -> usize {
    // SAFETY: it only asks.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).ok().filter(|size| size.is_power_of_two()).unwrap_or(GUARD)
}

fn round_up(bytes: usize, to: usize) -> usize {
    bytes.checked_next_multiple_of(to).unwrap_or(usize::MAX)
}
