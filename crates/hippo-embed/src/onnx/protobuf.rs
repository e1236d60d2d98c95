//! Writer of the protobuf messages in an ONNX graph.

/// A protobuf message under construction. Field numbers are those of `onnx.proto`.
#[derive(Debug, Default)]
pub(super) struct ProtobufMessage(Vec<u8>);

impl ProtobufMessage {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Appends an integer or enum field.
    pub(super) fn int(mut self, field: u32, value: i64) -> Self {
        self.key(field, 0);
        self.varint(value.cast_unsigned());
        self
    }

    /// Appends a `float` field.
    pub(super) fn float(mut self, field: u32, value: f32) -> Self {
        self.key(field, 5);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// Appends a `bytes` or `string` field.
    pub(super) fn bytes(mut self, field: u32, value: impl AsRef<[u8]>) -> Self {
        self.key(field, 2);
        self.varint(value.as_ref().len() as u64);
        self.0.extend(value.as_ref());
        self
    }

    /// Appends a message field.
    pub(super) fn message(self, field: u32, value: Self) -> Self {
        self.bytes(field, value.0)
    }

    /// Appends a repeated field. `write` is the method that writes one element.
    pub(super) fn each<T>(
        self,
        values: impl IntoIterator<Item = T>,
        write: impl Fn(Self, T) -> Self,
    ) -> Self {
        values.into_iter().fold(self, write)
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn key(&mut self, field: u32, wire: u64) {
        self.varint(u64::from(field) << 3 | wire);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

/// Parses the fields of a message into pairs of field number and content. The content of an integer field is returned
/// as bytes.
#[cfg(test)]
pub(super) fn fields(mut bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return value;
            }
            shift += 7;
        }
    }
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let content = match key & 7 {
            0 => varint(&mut bytes).to_le_bytes().to_vec(),
            wire => {
                let length = if wire == 2 { varint(&mut bytes) as usize } else { 4 };
                let (content, rest) = bytes.split_at(length);
                bytes = rest;
                content.to_vec()
            }
        };
        fields.push((key >> 3, content));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the protobuf encoding guide: `a = 150`, `b = "testing"`, nested, and a negative number.
    #[test]
    fn fields_are_encoded_as_the_format_says() {
        assert_eq!(
            ProtobufMessage::new().int(1, 150).into_bytes(),
            [0x08, 0x96, 0x01]
        );
        let text = [0x12, 0x07, b't', b'e', b's', b't', b'i', b'n', b'g'];
        assert_eq!(ProtobufMessage::new().bytes(2, "testing").into_bytes(), text);
        let nested = ProtobufMessage::new()
            .message(3, ProtobufMessage::new().int(1, 150))
            .into_bytes();
        assert_eq!(nested, [0x1a, 0x03, 0x08, 0x96, 0x01]);
        let negative = ProtobufMessage::new().int(2, -2).into_bytes();
        assert_eq!(
            negative,
            [0x10, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]
        );
        assert_eq!(
            ProtobufMessage::new().float(2, 1.0).into_bytes(),
            [0x15, 0, 0, 0x80, 0x3f]
        );
    }
}
