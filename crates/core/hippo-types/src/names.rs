//! Names of the values of an enum.

/// Implements `ALL`, `name`, `Display` and `FromStr` for an enum. The values keep their order.
#[macro_export]
macro_rules! names {
    ($type:ident { $($variant:ident => $name:literal),+ $(,)? }) => {
        impl $type {
            /// All values.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Returns the name on the wire, in files and on the command line.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::UnknownName;

            /// Parses a name, ignoring case.
            fn from_str(name: &str) -> Result<Self, $crate::UnknownName> {
                let found = Self::ALL.into_iter().find(|value| value.name().eq_ignore_ascii_case(name));
                found.ok_or_else(|| $crate::UnknownName(name.to_owned()))
            }
        }
    };
}

/// Error for a name that matches no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown name {0:?}")]
pub struct UnknownName(pub String);

#[cfg(test)]
mod tests {
    use crate::context::{
        ContextEncoding, ContextKind, ContextPriority, ContextState, FetchOrigin, FetchOutcome,
    };
    use crate::cycle::Cycle;
    use crate::entry::{EntryOrigin, EntryPlace, EntryPriority, StrengthBand};
    use crate::memory::MemoryType;
    use crate::search::SearchMode;
    use crate::transcript::{ExportProgram, TranscriptFormat};

    #[test]
    fn names_are_parsed_and_serialized_alike() {
        macro_rules! check {
            ($($type:ident),+) => {$(
                for value in $type::ALL {
                    assert_eq!(value.name().to_uppercase().parse(), Ok(value));
                    assert_eq!(serde_json::to_value(value).unwrap(), value.name());
                    assert_eq!(serde_json::from_value::<$type>(value.name().into()).unwrap(), value);
                }
            )+};
        }
        check!(
            ContextEncoding,
            ContextKind,
            ContextPriority,
            ContextState,
            FetchOrigin,
            FetchOutcome,
            Cycle,
            EntryOrigin,
            EntryPlace,
            EntryPriority,
            StrengthBand,
            MemoryType,
            SearchMode,
            ExportProgram,
            TranscriptFormat
        );
        let unknown = "urgent".parse::<EntryPriority>().unwrap_err();
        assert_eq!(unknown.to_string(), "unknown name \"urgent\"");
    }
}
