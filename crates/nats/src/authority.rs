//! A private certificate authority: keys, and certificates that it signs.

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose,
};
use time::{Duration, OffsetDateTime};

use crate::NatsError;

/// The authority itself lasts longer than anything that it signs.
pub(crate) const AUTHORITY_DAYS: u32 = 3650;

/// Clocks of hosts may be behind so far.
const EARLIER: Duration = Duration::days(1);

/// A certificate and its key, as PEM.
#[derive(Debug)]
pub(crate) struct Signed {
    pub certificate: String,
    pub key: String,
}

/// The role of the owner of a certificate.
pub(crate) enum Holder<'a> {
    /// The server, under these names and addresses.
    Server(&'a [String]),
    /// A client: its name, and a number that no other certificate has.
    Client { name: &'a str, number: &'a str },
}

/// The certificate authority of a fleet, which signs all other certificates.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
}

/// What is in the certificate of an authority with this number. Its key makes the rest.
fn parameters(number: &str) -> CertificateParams {
    let mut parameters = CertificateParams::default();
    let mut name = DistinguishedName::new();
    name.push(DnType::OrganizationalUnitName, number);
    name.push(DnType::CommonName, "iosonde fleet");
    parameters.distinguished_name = name;
    parameters.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    last(&mut parameters, AUTHORITY_DAYS);
    parameters
}

/// The day in so many days, as `2027-11-25`, which sorts as days do.
pub(crate) fn day(days: u32) -> String {
    let day = OffsetDateTime::now_utc().saturating_add(Duration::days(i64::from(days))).date();
    format!("{:04}-{:02}-{:02}", day.year(), u8::from(day.month()), day.day())
}

fn last(parameters: &mut CertificateParams, days: u32) {
    let now = OffsetDateTime::now_utc();
    parameters.not_before = now - EARLIER;
    parameters.not_after = now.saturating_add(Duration::days(i64::from(days)));
}

impl Authority {
    /// A new authority, and its own certificate and key.
    pub(crate) fn new(number: &str) -> Result<(Self, Signed), NatsError> {
        let key = KeyPair::generate()?;
        let parameters = parameters(number);
        let certificate = parameters.self_signed(&key)?.pem();
        let signed = Signed { certificate, key: key.serialize_pem() };
        Ok((Self { issuer: Issuer::new(parameters, key) }, signed))
    }

    /// The authority whose number and key these are.
    pub(crate) fn of_key(number: &str, key: &str) -> Result<Self, NatsError> {
        Ok(Self { issuer: Issuer::new(parameters(number), KeyPair::from_pem(key)?) })
    }

    /// Makes a key, and signs a certificate that lasts so many days.
    pub(crate) fn sign(&self, holder: &Holder<'_>, days: u32) -> Result<Signed, NatsError> {
        let key = KeyPair::generate()?;
        let (names, name, usage) = match holder {
            Holder::Server(names) => {
                (names.to_vec(), DistinguishedName::new(), ExtendedKeyUsagePurpose::ServerAuth)
            }
            Holder::Client { name, number } => {
                let mut dn = DistinguishedName::new();
                dn.push(DnType::OrganizationalUnitName, *number);
                dn.push(DnType::CommonName, *name);
                (Vec::new(), dn, ExtendedKeyUsagePurpose::ClientAuth)
            }
        };
        let mut parameters = CertificateParams::new(names)?;
        parameters.distinguished_name = name;
        parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        parameters.extended_key_usages = vec![usage];
        parameters.use_authority_key_identifier_extension = true;
        last(&mut parameters, days);
        let certificate = parameters.signed_by(&key, &self.issuer)?.pem();
        Ok(Signed { certificate, key: key.serialize_pem() })
    }
}
