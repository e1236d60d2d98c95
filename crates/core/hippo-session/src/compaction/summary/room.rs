//! Byte budget of the summary.

/// Remaining bytes.
#[derive(Debug, Default)]
pub struct ByteBudget(pub usize);

impl ByteBudget {
    /// Deducts the bytes if they are available. Returns false otherwise.
    pub fn spend(&mut self, bytes: usize) -> bool {
        if bytes > self.0 {
            return false;
        }
        self.0 -= bytes;
        true
    }

    /// Returns a share of the remaining bytes, without deducting it.
    pub fn share(&self, share: f64) -> ByteBudget {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "the product is not negative, and no budget exceeds 2^53 bytes"
        )]
        ByteBudget((self.0 as f64 * share) as usize)
    }
}
