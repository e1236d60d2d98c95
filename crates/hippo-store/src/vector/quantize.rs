//! Quantisation of unit vectors, and dot products of the codes.
//!
//! A component `x` becomes `c = round(x / scale)` in −127..=127, stored as `u = c + 128`. The upper and lower nibbles
//! of `u` are stored in two separate planes. The speed of a scan is limited by the memory bandwidth. The first pass
//! over all vectors therefore reads only the upper plane, which is half of the bytes. Refining the candidates also
//! reads the lower plane.
//!
//! Byte `j` of a plane contains dimension `j` in its low nibble and dimension `half + j` in its high nibble.
//! Dimensions are padded with zeros to a multiple of 64.
//!
//! `multiversion` compiles the kernels for AVX-512, AVX2 and the baseline, and selects one at run time. This crate
//! needs no `unsafe` for this.

use multiversion::multiversion;

use super::error::VectorError;

const LANES: usize = 32;

/// Returns the number of bytes in one plane for vectors of `dimension` dimensions.
pub(super) fn half_len(dimension: usize) -> usize {
    dimension.next_multiple_of(2 * LANES) / 2
}

/// A validated and quantised query. It can be reused for searches in all indexes of its dimension.
#[derive(Debug, Clone)]
pub struct PreparedQuery {
    pub(super) exact: Vec<f32>,
    /// The codes `a` of the first half, followed by `b − 16 · a` for the codes `b` of the second half. For a byte
    /// `l + 16 · h` of a plane, `l · a + h · b` then equals `byte · a + h · (b − 16 · a)`, so the low nibble needs no
    /// mask.
    pub(super) codes: Vec<i16>,
    scale: f32,
    sum: i32,
}

impl PreparedQuery {
    /// Validates and quantises a query.
    ///
    /// # Errors
    /// Fails if a component of the query is not finite, or if the query is not of unit length.
    pub fn new(query: &[f32]) -> Result<Self, VectorError> {
        check(query, query.len())?;
        let half = half_len(query.len());
        let scale = scale_of(query);
        let mut codes = vec![0i16; 2 * half];
        for (code, x) in codes.iter_mut().zip(query) {
            *code = (x / scale).round() as i16;
        }
        let sum = codes.iter().map(|&c| i32::from(c)).sum();
        let (first, second) = codes.split_at_mut(half);
        second.iter_mut().zip(first).for_each(|(b, a)| *b -= 16 * *a);
        Ok(Self {
            exact: query.to_vec(),
            codes,
            scale,
            sum,
        })
    }

    /// Returns the number of dimensions.
    pub fn dimension(&self) -> usize {
        self.exact.len()
    }

    /// Returns the offset to add to 16 · dot(upper nibbles) if only the upper nibbles are read. The offset replaces
    /// each lower nibble with the mean of 7.5.
    pub(super) fn coarse_offset(&self) -> f32 {
        (7.5 - 128.0) * self.sum as f32
    }

    /// Computes the cosine from the dot products of both planes.
    pub(super) fn cosine(&self, upper: i32, lower: i32, scale: f32) -> f32 {
        (16 * upper + lower - 128 * self.sum) as f32 * scale * self.scale
    }

    /// Returns the factor that converts a coarse score, which is in units of the query's codes, to a cosine.
    #[cfg(test)]
    fn unit(&self) -> f32 {
        self.scale
    }
}

/// Checks that a vector has `dimension` dimensions, is finite, and is of unit length.
pub(super) fn check(vector: &[f32], dimension: usize) -> Result<(), VectorError> {
    if vector.len() != dimension {
        return Err(VectorError::Dimension {
            expected: dimension,
            got: vector.len(),
        });
    }
    if vector.iter().any(|x| !x.is_finite()) {
        return Err(VectorError::NotFinite);
    }
    let length = dot_f32(vector, vector).sqrt();
    if !(0.99..=1.01).contains(&length) {
        return Err(VectorError::NotUnit { length });
    }
    Ok(())
}

/// Writes the two planes of a validated vector. Returns its scale.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn encode(vector: &[f32], upper: &mut [u8], lower: &mut [u8]) -> f32 {
    let scale = scale_of(vector);
    let half = upper.len();
    let code = |dimension: usize| -> u8 {
        let x = vector.get(dimension).copied().unwrap_or(0.0);
        ((x / scale).round() as i16 + 128) as u8
    };
    for j in 0..half {
        let (a, b) = (code(j), code(half + j));
        upper[j] = (a >> 4) | (b & 0xF0);
        lower[j] = (a & 0x0F) | (b << 4);
    }
    scale
}

fn scale_of(vector: &[f32]) -> f32 {
    vector.iter().fold(0.0f32, |max, x| max.max(x.abs())) / 127.0
}

/// Computes the dot product of two f32 slices of equal length. The accumulators are independent, so that the compiler
/// can vectorise the loop.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn dot_f32(a: &[f32], b: &[f32]) -> f32 {
    let mut acc = [0.0f32; LANES];
    let (a_chunks, a_rest) = a.as_chunks::<LANES>();
    let (b_chunks, b_rest) = b.as_chunks::<LANES>();
    for (x, y) in a_chunks.iter().zip(b_chunks) {
        for i in 0..LANES {
            acc[i] += x[i] * y[i];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    acc.iter().sum::<f32>() + rest
}

/// Computes coarse scores of consecutive vectors: `(16 · dot(upper, query) + offset) · scale`, one per element of
/// `out`.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn score_run(upper: &[u8], query: &[i16], offset: f32, scales: &[f32], out: &mut [f32]) {
    // The step is a constant in each arm, because a known trip count makes the loop three times as fast.
    match step_of(query.len() / 2) {
        192 => score_rows::<192>(upper, query, offset, scales, out),
        256 => score_rows::<256>(upper, query, offset, scales, out),
        128 => score_rows::<128>(upper, query, offset, scales, out),
        _ => score_rows::<LANES>(upper, query, offset, scales, out),
    }
}

#[inline(always)]
fn score_rows<const STEP: usize>(upper: &[u8], query: &[i16], offset: f32, scales: &[f32], out: &mut [f32]) {
    for ((row, scale), out) in upper.chunks_exact(query.len() / 2).zip(scales).zip(out) {
        *out = ((16 * dot_nibbles::<STEP>(row, query)) as f32 + offset) * scale;
    }
}

/// Computes the dot products of several planes with the query, one per element of `out`.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn dot_planes(planes: &[&[u8]], query: &[i16], out: &mut [i32]) {
    match step_of(query.len() / 2) {
        192 => dot_rows::<192>(planes, query, out),
        256 => dot_rows::<256>(planes, query, out),
        128 => dot_rows::<128>(planes, query, out),
        _ => dot_rows::<LANES>(planes, query, out),
    }
}

#[inline(always)]
fn dot_rows<const STEP: usize>(planes: &[&[u8]], query: &[i16], out: &mut [i32]) {
    for (plane, out) in planes.iter().zip(out) {
        *out = dot_nibbles::<STEP>(plane, query);
    }
}

/// Returns the preferred step, in bytes, that divides a plane of `half` bytes.
fn step_of(half: usize) -> usize {
    [192, 256, 128]
        .into_iter()
        .find(|&step| half.is_multiple_of(step))
        .unwrap_or(LANES)
}

/// Computes the dot product of the nibbles of a plane with the query's codes.
///
/// Processes `STEP` bytes (a multiple of 32, at most 256) at a time. A lane sums at most 16 products of a nibble (≤
/// 15) and a code (≤ 127). The sum of at most 30,480 fits into the lane's i16, and an intermediate overflow wraps
/// back.
///
/// Uses loops instead of iterator closures. A closure that is not inlined would be compiled without the caller's
/// instruction set.
#[inline(always)]
fn dot_nibbles<const STEP: usize>(plane: &[u8], query: &[i16]) -> i32 {
    let (first, second) = query.split_at(plane.len());
    let codes = first
        .as_chunks::<STEP>()
        .0
        .iter()
        .zip(second.as_chunks::<STEP>().0);
    let mut total = 0;
    for (plane, (a, b)) in plane.as_chunks::<STEP>().0.iter().zip(codes) {
        let mut acc = [0i16; LANES];
        for part in 0..STEP / LANES {
            for (lane, sum) in acc.iter_mut().enumerate() {
                let at = part * LANES + lane;
                let byte = i16::from(plane[at]);
                let high = (byte >> 4).wrapping_mul(b[at]);
                *sum = sum.wrapping_add(byte.wrapping_mul(a[at])).wrapping_add(high);
            }
        }
        total += sum_lanes(&acc);
    }
    total
}

#[inline(always)]
fn sum_lanes(acc: &[i16; LANES]) -> i32 {
    let mut wide = [0i32; 16];
    for (i, wide) in wide.iter_mut().enumerate() {
        *wide = i32::from(acc[i]) + i32::from(acc[i + 16]);
    }
    let mut narrow = [0i32; 4];
    for (i, narrow) in narrow.iter_mut().enumerate() {
        *narrow = (wide[i] + wide[i + 8]) + (wide[i + 4] + wide[i + 12]);
    }
    (narrow[0] + narrow[2]) + (narrow[1] + narrow[3])
}

#[inline(always)]
fn first(upper: u8, lower: u8) -> i32 {
    i32::from((((upper << 4) | (lower & 15)) ^ 0x80) as i8)
}

#[inline(always)]
fn second_plane(upper: u8, lower: u8) -> i32 {
    i32::from((((upper & 0xF0) | (lower >> 4)) ^ 0x80) as i8)
}

/// Computes the dot product of the codes of two stored vectors. Each vector is given as (upper plane, lower plane).
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn dot_codes(a: (&[u8], &[u8]), b: (&[u8], &[u8])) -> i32 {
    let (au, al) = (a.0.as_chunks::<LANES>().0, a.1.as_chunks::<LANES>().0);
    let (bu, bl) = (b.0.as_chunks::<LANES>().0, b.1.as_chunks::<LANES>().0);
    let mut total = 0;
    for (((au, al), bu), bl) in au.iter().zip(al).zip(bu).zip(bl) {
        for i in 0..LANES {
            total += first(au[i], al[i]) * first(bu[i], bl[i])
                + second_plane(au[i], al[i]) * second_plane(bu[i], bl[i]);
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unit(values: Vec<f32>) -> Option<Vec<f32>> {
        let length = dot_f32(&values, &values).sqrt();
        (length > 1e-3).then(|| values.iter().map(|x| x / length).collect())
    }

    proptest! {
        /// A quantised cosine is close to the exact cosine. Both kernels agree with a simple sum over the codes.
        #[test]
        fn quantised_cosines_are_close_to_exact_ones(
            (a, b) in (1usize..600).prop_flat_map(|d| (
                proptest::collection::vec(-1.0f32..1.0, d),
                proptest::collection::vec(-1.0f32..1.0, d),
            ))
        ) {
            let (Some(a), Some(b)) = (unit(a), unit(b)) else { return Ok(()); };
            let half = half_len(a.len());
            let (mut au, mut al, mut bu, mut bl) =
                (vec![0; half], vec![0; half], vec![0; half], vec![0; half]);
            let scale_a = encode(&a, &mut au, &mut al);
            let scale_b = encode(&b, &mut bu, &mut bl);
            let exact: f32 = a.iter().zip(&b).map(|(x, y)| x * y).sum();

            let query = PreparedQuery::new(&a).unwrap();
            let mut dots = [0; 2];
            dot_planes(&[&bu, &bl], &query.codes, &mut dots);
            let cosine = query.cosine(dots[0], dots[1], scale_b);
            prop_assert!((cosine - exact).abs() < 0.02, "{cosine} {exact}");

            let pair = dot_codes((&au, &al), (&bu, &bl)) as f32 * scale_a * scale_b;
            prop_assert!((pair - cosine).abs() < 1e-5, "{pair} {cosine}");

            let mut coarse = [0.0];
            score_run(&bu, &query.codes, query.coarse_offset(), &[scale_b], &mut coarse);
            prop_assert!((coarse[0] * query.unit() - exact).abs() < 0.15, "{} {exact}", coarse[0]);
        }
    }

    #[test]
    fn accumulators_do_not_overflow_with_the_largest_products() {
        for dimension in [64, 384, 512, 513, 1536] {
            let x = 1.0 / (dimension as f32).sqrt();
            let vector = vec![x; dimension];
            let half = half_len(dimension);
            let (mut upper, mut lower) = (vec![0; half], vec![0; half]);
            let scale = encode(&vector, &mut upper, &mut lower);
            let query = PreparedQuery::new(&vector).unwrap();
            let mut dots = [0; 2];
            dot_planes(&[&upper, &lower], &query.codes, &mut dots);
            assert!(
                (query.cosine(dots[0], dots[1], scale) - 1.0).abs() < 1e-4,
                "{dimension}"
            );
        }
    }

    #[test]
    fn vectors_without_unit_length_are_refused() {
        assert_eq!(
            PreparedQuery::new(&[f32::NAN, 1.0]).unwrap_err(),
            VectorError::NotFinite
        );
        assert_eq!(
            PreparedQuery::new(&[0.0; 8]).unwrap_err(),
            VectorError::NotUnit { length: 0.0 }
        );
        assert!(matches!(
            check(&[1.0], 2),
            Err(VectorError::Dimension { expected: 2, got: 1 })
        ));
    }
}
