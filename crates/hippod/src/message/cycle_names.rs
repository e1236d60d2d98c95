//! Names of the cycles on the wire.

use hippo_map::consolidation::Cycle;
use hippo_proto::CycleName;

/// Converts a cycle to wire format.
pub const fn cycle_name(cycle: Cycle) -> CycleName {
    match cycle {
        Cycle::Light => CycleName::Light,
        Cycle::Deep => CycleName::Deep,
        Cycle::Archival => CycleName::Archival,
    }
}

/// Converts a cycle from wire format.
pub const fn named_cycle(name: CycleName) -> Cycle {
    match name {
        CycleName::Light => Cycle::Light,
        CycleName::Deep => Cycle::Deep,
        CycleName::Archival => Cycle::Archival,
    }
}
