//! Pseudo-random numbers for tests: a seed that failed fails again.

/// Knuth's MMIX generator.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Returns a number from 0 up to but without `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    pub(crate) fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }
}
