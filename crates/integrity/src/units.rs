//! How sizes and times of a plan are written in files and documents: numbers of bytes and
//! nanoseconds, or short forms such as `8K` and `15s` where people write them.

/// A size below 4 GiB, as a field of a plan.
pub(crate) mod bytes {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};
    use workload::Bytes;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde wants")]
    pub(crate) fn serialize<S: Serializer>(bytes: &u32, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u32(*bytes)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
        let bytes = Bytes::deserialize(from)?;
        u32::try_from(bytes.0).map_err(|_| D::Error::custom(format!("{bytes} is too large")))
    }
}

/// A length of time in nanoseconds, as a field of a plan.
pub(crate) mod nanoseconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};
    use workload::Nanoseconds;

    pub(crate) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        Ok(Duration::from_nanos(Nanoseconds::deserialize(from)?.0))
    }
}
