//! Maps the cosines of a model to the scale of the builtin model.

/// A monotone map from the cosines of a model to the scale of the builtin model. The thresholds and weights of the ranking were
/// chosen for the builtin model (`models/builtin/README.md`), and other models give unrelated texts other cosines.
///
/// The map consists of two lines. The first gives the cosines of unrelated pairs the mean and the standard deviation that they
/// have with the builtin model. The second begins at the knee, three deviations above the mean, and ends at (1, 1), because equal
/// texts have a cosine of 1 with every model.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct CosineScale {
    /// Factor of the first line, which applies below the knee.
    slope: f64,
    /// Summand of the first line.
    offset: f64,
    /// Cosine at which the second line begins.
    knee: f64,
}

impl Default for CosineScale {
    /// Returns the map that changes nothing.
    fn default() -> Self {
        Self { slope: 1.0, offset: 0.0, knee: 1.0 }
    }
}

/// Distance of the knee from the mean, in standard deviations: of normally distributed cosines, one in a thousand is above.
const KNEE_DEVIATIONS: f64 = 3.0;

impl CosineScale {
    /// Computes the map from the cosines of the same unrelated pairs of texts, by a model (`own`) and by the builtin model. Returns
    /// the map that changes nothing if either model gives all pairs one cosine, or puts the knee at 1 or above.
    pub fn fit(own: &[f64], builtin: &[f64]) -> Self {
        let ((own_mean, own_deviation), (mean, deviation)) =
            (mean_and_deviation(own), mean_and_deviation(builtin));
        let knee = own_mean + KNEE_DEVIATIONS * own_deviation;
        let slope = deviation / own_deviation;
        let is_usable =
            slope.is_finite() && slope > 0.0 && knee < 1.0 && mean + KNEE_DEVIATIONS * deviation < 1.0;
        if is_usable { Self { slope, offset: mean - slope * own_mean, knee } } else { Self::default() }
    }

    /// Maps a cosine of the model to the scale of the builtin model.
    pub fn apply(&self, cosine: f64) -> f64 {
        if cosine < self.knee || self.knee >= 1.0 {
            return self.map_below_knee(cosine);
        }
        let from = self.map_below_knee(self.knee);
        from + (cosine - self.knee) / (1.0 - self.knee) * (1.0 - from)
    }

    /// Maps a cosine by the first line.
    fn map_below_knee(&self, cosine: f64) -> f64 {
        self.slope * cosine + self.offset
    }
}

/// Returns the mean and the standard deviation of some values.
fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
    (mean, variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unrelated_pairs_get_the_spread_of_the_builtin_model() {
        let (own, builtin) = ([0.7, 0.72, 0.74, 0.76], [0.0, 0.1, 0.2, 0.3]);
        let scale = CosineScale::fit(&own, &builtin);
        let mapped: Vec<f64> = own.iter().map(|cosine| scale.apply(*cosine)).collect();
        let ((mean, deviation), expected) = (mean_and_deviation(&mapped), mean_and_deviation(&builtin));
        assert!((mean - expected.0).abs() < 1e-9 && (deviation - expected.1).abs() < 1e-9, "{mapped:?}");
    }

    #[test]
    fn order_and_equality_are_kept() {
        let scale = CosineScale::fit(&[0.7, 0.72, 0.74, 0.76], &[0.0, 0.1, 0.2, 0.3]);
        let mapped: Vec<f64> = (-100..=100).map(|percent| scale.apply(f64::from(percent) / 100.0)).collect();
        assert!(mapped.is_sorted_by(|left, right| left < right), "{mapped:?}");
        assert!((scale.apply(1.0) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_tells_nothing_apart_changes_nothing() {
        for (own, builtin) in
            [(&[0.5, 0.5], &[0.1, 0.2]), (&[0.1, 0.2], &[0.3, 0.3]), (&[], &[])] as [(&[f64], &[f64]); 3]
        {
            assert_eq!(CosineScale::fit(own, builtin), CosineScale::default());
        }
        assert!((CosineScale::default().apply(0.37) - 0.37).abs() < 1e-12);
        assert!((CosineScale::default().apply(1.0) - 1.0).abs() < 1e-12);
    }
}
