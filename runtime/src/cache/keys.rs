//! Signatures of entries. The key lies beside the entries, and only its owner can read the secret half.
//!
//! A process that may only read the cache, such as that of a job, has the public half and checks entries. A
//! process with the secret half puts entries in. An entry without a valid signature is ignored.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use rustix::process::geteuid;

/// File of the secret half, which only its owner may read.
const SECRET: &str = "key";
/// File of the public half.
pub const PUBLIC: &str = "key.pub";

/// The secret half; makes a key where there is none.
pub(super) fn secret(root: &Path) -> Option<SigningKey> {
    read_secret(root).or_else(|| {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).ok()?;
        let key = SigningKey::from_bytes(&seed);
        // The file appears whole or not at all, even if the process is killed here.
        let mut file = tempfile::NamedTempFile::new_in(root).ok()?;
        file.write_all(&seed).ok()?;
        match file.persist_noclobber(root.join(SECRET)) {
            Ok(_) => {
                super::put(root, &root.join(PUBLIC), key.verifying_key().as_bytes()).ok()?;
                Some(key)
            }
            // Another process made a key meanwhile, or the file cannot be written.
            Err(_) => read_secret(root),
        }
    })
}

fn read_secret(root: &Path) -> Option<SigningKey> {
    let not_a_link = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let mut file = File::options().read(true).custom_flags(not_a_link).open(root.join(SECRET)).ok()?;
    let found = file.metadata().ok()?;
    if found.uid() != geteuid().as_raw() || found.mode() & 0o077 != 0 {
        return None;
    }
    let mut seed = Vec::new();
    file.read_to_end(&mut seed).ok()?;
    let Ok(whole) = seed.as_slice().try_into() else {
        // An earlier version was killed while it wrote the key.
        let _ = fs::remove_file(root.join(SECRET));
        return None;
    };
    let key = SigningKey::from_bytes(whole);
    // A process that was killed between both files left the secret half alone.
    if public(root).as_ref() != Some(&key.verifying_key()) {
        super::put(root, &root.join(PUBLIC), key.verifying_key().as_bytes()).ok()?;
    }
    Some(key)
}

fn public(root: &Path) -> Option<VerifyingKey> {
    let bytes = fs::read(root.join(PUBLIC)).ok()?;
    VerifyingKey::from_bytes(bytes.as_slice().try_into().ok()?).ok()
}

/// The proof of an entry; `what` identifies its whole content.
pub(super) fn prove(root: &Path, what: &str) -> Option<String> {
    let signature = secret(root)?.sign(what.as_bytes());
    Some(signature.to_bytes().iter().map(|it| format!("{it:02x}")).collect())
}

/// Whether the owner of the key has put an entry there.
pub(super) fn is_proven(root: &Path, what: &str, proof: &str) -> bool {
    let Some(key) = public(root) else { return false };
    let bytes: Option<Vec<u8>> =
        (0..proof.len()).step_by(2).map(|at| u8::from_str_radix(proof.get(at..at + 2)?, 16).ok()).collect();
    let Some(signature) = bytes.and_then(|it| Signature::from_slice(&it).ok()) else { return false };
    key.verify_strict(what.as_bytes(), &signature).is_ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn half_a_key_is_made_anew() {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join(SECRET);
        fs::write(&path, b"half").expect("it is ours");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
        let proof = prove(root.path(), "this").expect("there is a key again");
        assert!(is_proven(root.path(), "this", &proof) && !is_proven(root.path(), "that", &proof));
        assert_eq!(path.metadata().expect("it is there").mode() & 0o777, 0o600);
    }
}
