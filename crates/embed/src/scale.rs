//! Maps the cosines of a model to the scale of the builtin model.

/// A monotone map of cosines. Bounds and weights were chosen for the builtin model (`models/builtin/README.md`); another
/// model has other cosines for texts that have nothing to do with each other.
///
/// Unrelated pairs get the mean and the deviation that they have with the builtin model. From three deviations above the
/// mean on, the map is the line to (1, 1): equal texts have a cosine of 1 whatever the model.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Scale {
    /// Factor below the knee.
    slope: f64,
    /// Summand below the knee.
    offset: f64,
    /// Cosine from which on the second line applies.
    knee: f64,
}

impl Default for Scale {
    /// Returns the map that changes nothing.
    fn default() -> Self {
        Self { slope: 1.0, offset: 0.0, knee: 1.0 }
    }
}

/// Deviations above the mean at which the lines meet: about one unrelated pair in a thousand is above, if they were normal.
const KNEE: f64 = 3.0;

impl Scale {
    /// Returns the map from cosines of unrelated pairs by a model, and by the builtin model. It changes nothing if one of
    /// them tells no pairs apart.
    pub fn between(own: &[f64], builtin: &[f64]) -> Self {
        let ((own_mean, own_deviation), (mean, deviation)) =
            (mean_and_deviation(own), mean_and_deviation(builtin));
        let knee = own_mean + KNEE * own_deviation;
        let slope = deviation / own_deviation;
        let is_usable = slope.is_finite() && slope > 0.0 && knee < 1.0 && mean + KNEE * deviation < 1.0;
        if is_usable { Self { slope, offset: mean - slope * own_mean, knee } } else { Self::default() }
    }

    /// Returns a cosine on the scale of the builtin model.
    pub fn apply(&self, cosine: f64) -> f64 {
        if cosine < self.knee || self.knee >= 1.0 {
            return self.map_below_knee(cosine);
        }
        let from = self.map_below_knee(self.knee);
        from + (cosine - self.knee) / (1.0 - self.knee) * (1.0 - from)
    }

    /// Returns a cosine on the line that applies below the knee.
    fn map_below_knee(&self, cosine: f64) -> f64 {
        self.slope * cosine + self.offset
    }
}

/// Returns mean and standard deviation.
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
        let scale = Scale::between(&own, &builtin);
        let mapped: Vec<f64> = own.iter().map(|cosine| scale.apply(*cosine)).collect();
        let ((mean, deviation), expected) = (mean_and_deviation(&mapped), mean_and_deviation(&builtin));
        assert!((mean - expected.0).abs() < 1e-9 && (deviation - expected.1).abs() < 1e-9, "{mapped:?}");
    }

    #[test]
    fn order_and_equality_are_kept() {
        let scale = Scale::between(&[0.7, 0.72, 0.74, 0.76], &[0.0, 0.1, 0.2, 0.3]);
        let mapped: Vec<f64> = (-100..=100).map(|percent| scale.apply(f64::from(percent) / 100.0)).collect();
        assert!(mapped.is_sorted_by(|left, right| left < right), "{mapped:?}");
        assert!((scale.apply(1.0) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_tells_nothing_apart_changes_nothing() {
        for (own, builtin) in
            [(&[0.5, 0.5], &[0.1, 0.2]), (&[0.1, 0.2], &[0.3, 0.3]), (&[], &[])] as [(&[f64], &[f64]); 3]
        {
            assert_eq!(Scale::between(own, builtin), Scale::default());
        }
        assert!((Scale::default().apply(0.37) - 0.37).abs() < 1e-12);
        assert!((Scale::default().apply(1.0) - 1.0).abs() < 1e-12);
    }
}
