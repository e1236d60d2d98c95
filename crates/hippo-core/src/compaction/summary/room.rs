//! How many bytes are left for what is still to be chosen?

/// Room in bytes.
#[derive(Debug, Default)]
pub struct Room(pub usize);

impl Room {
    /// Takes so many, if there are as many.
    pub fn take(&mut self, bytes: usize) -> bool {
        if bytes > self.0 {
            return false;
        }
        self.0 -= bytes;
        true
    }

    /// A part of it, as room of its own.
    pub fn share(&self, share: f64) -> Room {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a share of a size is a size; beyond 2^53 bytes nobody counts"
        )]
        Room((self.0 as f64 * share) as usize)
    }
}
