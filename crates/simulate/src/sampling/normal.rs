//! Quantiles of the standard normal distribution.

/// The value that a standard normal variable is below with probability `lower`, for 0 < `lower` < 1; `upper` is
/// 1 − `lower`, which is exact where `lower` is close to 1.
///
/// Source: Wichura, "Algorithm AS 241: The percentage points of the normal distribution", Applied Statistics 37 (1988),
/// routine PPND16, whose relative error is about 1e-16.
pub(super) fn quantile(lower: f64, upper: f64) -> f64 {
    let from_middle = if lower < 0.5 { lower - 0.5 } else { 0.5 - upper };
    if from_middle.abs() <= 0.425 {
        let square = 0.180_625 - from_middle * from_middle;
        return from_middle * ratio(&MIDDLE, square);
    }
    let distance = (-lower.min(upper).ln()).sqrt();
    let size = if distance <= 5.0 { ratio(&TAIL, distance - 1.6) } else { ratio(&FAR_TAIL, distance - 5.0) };
    size.copysign(from_middle)
}

/// Coefficients of a numerator and of a denominator, the constant first.
type Ratio = [[f64; 8]; 2];

fn ratio([above, below]: &Ratio, at: f64) -> f64 {
    let polynomial = |of: &[f64; 8]| of.iter().rev().fold(0.0, |sum, coefficient| sum * at + coefficient);
    polynomial(above) / polynomial(below)
}

const MIDDLE: Ratio = [
    [
        3.387_132_872_796_366_5,
        1.331_416_678_917_843_8e2,
        1.971_590_950_306_551_3e3,
        1.373_169_376_550_946e4,
        4.592_195_393_154_987e4,
        6.726_577_092_700_87e4,
        3.343_057_558_358_813e4,
        2.509_080_928_730_122_7e3,
    ],
    [
        1.0,
        4.231_333_070_160_091e1,
        6.871_870_074_920_579e2,
        5.394_196_021_424_751e3,
        2.121_379_430_158_659_7e4,
        3.930_789_580_009_271e4,
        2.872_908_573_572_194_3e4,
        5.226_495_278_852_854e3,
    ],
];

const TAIL: Ratio = [
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        2.417_807_251_774_506e-1,
        2.272_384_498_926_918_4e-2,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        6.897_673_349_851e-1,
        1.481_039_764_274_800_8e-1,
        1.519_866_656_361_645_7e-2,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
];

const FAR_TAIL: Ratio = [
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        2.965_605_718_285_048_7e-1,
        2.653_218_952_657_612_4e-2,
        1.242_660_947_388_078_4e-3,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        5.998_322_065_558_88e-1,
        1.369_298_809_227_358e-1,
        1.487_536_129_085_061_5e-2,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
];

#[cfg(test)]
mod tests {
    use super::quantile;

    /// Φ(x) by its Taylor series about 0 (Abramowitz and Stegun 26.2.10).
    fn below(x: f64) -> f64 {
        let (mut term, mut sum) = (x, x);
        for power in 1..200 {
            let power = f64::from(power);
            term *= -x * x / (2.0 * power);
            sum += term / (2.0 * power + 1.0);
        }
        0.5 + sum / (2.0 * std::f64::consts::PI).sqrt()
    }

    #[test]
    fn quantiles_invert_the_distribution() {
        for hundredth in -450..=450 {
            let x = f64::from(hundredth) / 100.0;
            let (lower, upper) = (below(x), below(-x));
            assert!((quantile(lower, upper) - x).abs() < 1e-9 * (1.0 + 1e2 * x.abs().powi(6)), "{x}");
        }
    }

    /// Tables of the normal distribution (Abramowitz and Stegun, table 26.5 and 26.6).
    #[test]
    fn quantiles_are_those_of_tables() {
        for (upper, x) in [
            (0.5, 0.0),
            (0.25, 0.674_489_75),
            (0.05, 1.644_853_63),
            (0.025, 1.959_963_98),
            (0.01, 2.326_347_87),
            (1e-3, 3.090_232_31),
            (1e-5, 4.264_890_79),
            (1e-9, 5.997_807_02),
            (1e-15, 7.941_345_33),
        ] {
            assert!((quantile(1.0 - upper, upper) - x).abs() < 1e-8, "{upper}");
            assert!((quantile(upper, 1.0 - upper) + x).abs() < 1e-8, "{upper}");
        }
    }
}
