//! Levels: the instruction sets that kernels are compiled for, with a file for each. The file of a level holds the proof
//! that the processor has it and the level's [`Entries`]. Most entries compile a loop of [`bodies`] for the level.
//!
//! To add a level, add its file, which `avx2.rs` is a template for, its `mod` line, and its line in the list below.
//! Nothing else in the sources names a level; `optimized/README.md` and `CHANGELOG.md` do. An entry that only compiles the
//! shared loop pays where the platform's baseline lacks the instructions: on aarch64, `portable` is compiled with NEON already,
//! and its requests ahead are `prfm`. Stores past the caches are for x86-64 so far. `.ci/nightly aarch64` runs the tests under
//! an emulator, which says nothing about speed.
//!
//! Levels have no order of strength: a call that names none gets the last one of the list
//! that the processor has.

#![allow(unsafe_code, reason = "entries are for processors that have the level; each block says why it may")]

pub(crate) mod bodies;
mod entries;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;
#[cfg(target_arch = "x86_64")]
mod sixteen;
#[cfg(target_arch = "x86_64")]
mod tables;
#[cfg(target_arch = "x86_64")]
mod vectors;
#[cfg(target_arch = "x86_64")]
mod wide;

use std::fmt;
use std::mem::MaybeUninit;
use std::str::FromStr;

use self::bodies::{CheckedRows, IndexRows, Picks};
use self::entries::Entries;
use crate::index::Locate;

/// Takes `module => Type: "Summary.", if <platform>;` for each level. The name of a level is that of its module.
macro_rules! levels {
    ($($module:ident => $name:ident: $about:literal $(, if $platform:meta)?;)+) => {
        /// A set of instructions that kernels are compiled for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Level {
            $(#[doc = $about] $name,)+
        }

        impl Level {
            /// Every level, whether this machine has it or not.
            pub const ALL: [Self; [$(stringify!($name)),+].len()] = [$(Self::$name),+];

            /// The name used in [`LEVEL_VARIABLE`](crate::LEVEL_VARIABLE).
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($module),)+
                }
            }
        }

        /// A level with the proof that the processor has it.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum Proof {
            $($(#[cfg($platform)])? $name($module::$name),)+
        }

        impl Proof {
            /// The proof for a level, if this processor has it.
            pub(crate) fn of(level: Level) -> Option<Self> {
                match level {
                    $($(#[cfg($platform)])? Level::$name => $module::$name::detect().map(Self::$name),)+
                    #[allow(unreachable_patterns, reason = "a level of another platform has no arm")]
                    _ => None,
                }
            }

            /// The level that is proven.
            pub(crate) const fn level(self) -> Level {
                match self {
                    $($(#[cfg($platform)])? Self::$name(_) => Level::$name,)+
                }
            }

            /// [`Entries::check_dense`] of the level.
            ///
            /// # Safety
            /// As [`bodies::check`]; the rows must be dense.
            #[inline]
            pub(crate) unsafe fn check_dense<I: Locate, const D: usize>(
                self,
                rows: IndexRows<I, D>,
                offsets: &mut [MaybeUninit<isize>],
            ) -> bool {
                // SAFETY: the proof of the level, and the caller's promise.
                unsafe {
                    match self {
                        $($(#[cfg($platform)])? Self::$name(proof) => proof.check_dense(rows, offsets),)+
                    }
                }
            }

            /// [`Entries::copy_rows`] of the level.
            #[inline]
            pub(crate) fn copy_rows(self, rows: CheckedRows<'_>, output: &mut [MaybeUninit<u8>]) {
                // SAFETY: the proof of the level; the rows are checked ones.
                unsafe {
                    match self {
                        $($(#[cfg($platform)])? Self::$name(proof) => proof.copy_rows(rows, output),)+
                    }
                }
            }

            /// [`Entries::spread_rows`] of the level.
            ///
            /// # Safety
            /// As [`bodies::spread_rows`].
            #[inline]
            pub(crate) unsafe fn spread_rows(self, rows: CheckedRows<'_>, output: *mut u8, places: &[isize]) {
                // SAFETY: the proof of the level, and the caller's promise.
                unsafe {
                    match self {
                        $($(#[cfg($platform)])? Self::$name(proof) => proof.spread_rows(rows, output, places),)+
                    }
                }
            }

            /// [`Entries::stream_rows`] of the level.
            #[inline]
            pub(crate) fn stream_rows(self, rows: CheckedRows<'_>, output: &mut [MaybeUninit<u8>]) {
                // SAFETY: the proof of the level; the rows are checked ones.
                unsafe {
                    match self {
                        $($(#[cfg($platform)])? Self::$name(proof) => proof.stream_rows(rows, output),)+
                    }
                }
            }

            /// [`Entries::pick_elements`] of the level.
            #[inline]
            pub(crate) fn pick_elements<const SIZE: usize>(
                self,
                rows: CheckedRows<'_>,
                output: &mut [MaybeUninit<u8>],
            ) {
                // SAFETY: the proof of the level; the rows are checked ones.
                unsafe {
                    match self {
                        $($(#[cfg($platform)])? Self::$name(proof) => {
                            proof.pick_elements::<SIZE>(rows, output)
                        })+
                    }
                }
            }

            /// [`Entries::look_up`] of the level.
            ///
            /// # Safety
            /// As [`bodies::pick_checked`], with elements of `size` bytes and no gaps.
            #[inline]
            pub(crate) unsafe fn look_up(self, picks: Picks<u8>, size: usize) -> Option<bool> {
                // SAFETY: the proof of the level, and the caller's promise.
                unsafe {
                    match self {
                        $($(#[cfg($platform)])? Self::$name(proof) => proof.look_up(picks, size),)+
                    }
                }
            }

            /// [`Entries::pick_rows`] of the level.
            ///
            /// # Safety
            /// As [`bodies::pick_rows`].
            #[inline]
            pub(crate) unsafe fn pick_rows<I: Locate>(self, picks: Picks<I>, row_bytes: usize) -> bool {
                // SAFETY: the proof of the level, and the caller's promise.
                unsafe {
                    match self {
                        $($(#[cfg($platform)])? Self::$name(proof) => proof.pick_rows(picks, row_bytes),)+
                    }
                }
            }

            /// [`Entries::pick_checked`] of the level.
            ///
            /// # Safety
            /// As [`bodies::pick_checked`].
            #[inline]
            pub(crate) unsafe fn pick_checked<I: Locate, const SIZE: usize>(self, picks: Picks<I>) -> bool {
                // SAFETY: the proof of the level, and the caller's promise.
                unsafe {
                    match self {
                        $($(#[cfg($platform)])? Self::$name(proof) => proof.pick_checked::<I, SIZE>(picks),)+
                    }
                }
            }
        }
    };
}

levels! {
    portable => Portable: "What every processor has.";
    avx2 => Avx2: "x86-64 with AVX2.", if target_arch = "x86_64";
    avx512 => Avx512: "x86-64 with AVX-512 F, BW, DQ and VL.", if target_arch = "x86_64";
}

impl Level {
    /// The levels that this machine has.
    ///
    /// ```
    /// use gather_optimized::Level;
    /// assert!(Level::available().any(|level| level == Level::Portable));
    /// ```
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|level| Proof::of(*level).is_some())
    }
}

impl Proof {
    /// The proof for the level that suits this processor best.
    ///
    /// # Panics
    /// If there is no level that every processor has.
    pub(crate) fn best() -> Self {
        let mut proofs = Level::ALL.into_iter().filter_map(Self::of);
        proofs.next_back().expect("a level that every processor has")
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let named = Self::ALL.into_iter().find(|level| level.name() == name);
        let names = || Self::ALL.map(Self::name).join(" ");
        named.ok_or_else(|| format!("`{name}` is unknown: one of {} is expected", names()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_told_and_asked_for_by_its_name() {
        let names = [(Level::Portable, "portable"), (Level::Avx2, "avx2"), (Level::Avx512, "avx512")];
        for (level, name) in names {
            assert_eq!((level.name(), level.to_string()), (name, name.to_owned()));
            assert_eq!(name.parse(), Ok(level));
        }
        let all = Level::ALL.map(Level::name).join(" ");
        assert!(all.starts_with("portable avx2"), "{all}");
        assert_eq!("sse2".parse::<Level>(), Err(format!("`sse2` is unknown: one of {all} is expected")));
    }

    #[test]
    fn every_processor_has_the_portable_level_and_each_level_is_proven_as_itself() {
        assert_eq!(Level::available().next(), Some(Level::Portable));
        for level in Level::available() {
            assert_eq!(Proof::of(level).map(Proof::level), Some(level));
        }
    }

    #[test]
    fn the_best_level_is_the_last_of_those_that_there_are() {
        assert_eq!(Some(Proof::best().level()), Level::available().last());
    }
}
