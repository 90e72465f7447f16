//! A kettle that knows its limits.

use std::collections::HashMap;
use std::fmt::{self, Display};

/// Boiling point of water, in degrees.
pub const BOILING: f32 = 100.0;
static SHELVES: usize = 4;

/// Something that can be heated.
pub trait Heat {
    type Unit;
    const STEP: u8 = 1;

    fn heat(&mut self, by: f32) -> Result<(), TooHot>;

    /// Whether it is done.
    fn is_done(&self) -> bool {
        self.level() >= BOILING
    }
}

/// A kettle.
#[derive(Debug, Default)]
pub struct Kettle<T> {
    water: T,
    degrees: f32,
}

impl<T: Display> Heat for Kettle<T> {
    fn heat(&mut self, by: f32) -> Result<(), TooHot> {
        fn clamp(value: f32) -> f32 {
            f32::max(value, 0.0)
        }
        self.degrees += clamp(by);
        if self.degrees > BOILING { Err(TooHot::new(self.degrees)) } else { Ok(()) }
    }
}

pub enum Mode {
    Eco,
    Fast { watts: u32 },
}

pub type Shelf = HashMap<String, Kettle<u8>>;

macro_rules! pour {
    ($kettle:expr) => {
        $kettle.empty(spout())
    };
}

mod inner {
    pub(super) union Bits {
        float: f32,
    }

    #[cfg(test)]
    #[inline]
    fn count() -> usize {
        println!("{}", super::measure::<u8>(vec![1]));
        pour!(kettle)
    }
}
